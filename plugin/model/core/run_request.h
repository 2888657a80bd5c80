#pragma once
// One request through a machine that nobody else drives: model time runs until the request is
// answered.

#include <optional>

#include "plugin/model/core/machine.h"

namespace headcrash::model {

/// Submits the request and runs the simulation until its completion. Nothing: no event is left and
/// the device has not answered, which is a defect of the model; the buffers of the request may
/// still be written to when the machine runs on, so that the caller must not run it any further if
/// it gave any.
std::optional<Status> run_request(Machine& machine, std::size_t device_index,
                                  const Request& request);

}  // namespace headcrash::model
