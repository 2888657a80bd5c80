#pragma once
// Runs one request on a machine that is otherwise idle.

#include <optional>

#include "plugin/model/core/machine.h"

namespace headcrash::model {

/// Submits the request and runs the simulation until the request completes. Returns nullopt if no
/// events are left but the device has not answered, which is a bug in the model. The device may
/// then still write to the request's buffers, so a caller that passed buffers must not run the
/// machine any further.
std::optional<Status> run_request(Machine& machine, std::size_t device_index,
                                  const Request& request);

}  // namespace headcrash::model
