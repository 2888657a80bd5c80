#pragma once
// The disk that a stage's machine makes (harness/explorer/guests/stage_machine.h).

#include <cstdint>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/base/result.h"

namespace headcrash::campaign {

/// How large its disk is when `bytes` are asked for: arrays have whole stripes. Errors: no such
/// profile; a single drive, whose states are its writes' (a stage by itself); a size that it cannot
/// have; a fault of a device that it does not have; an array for a file system that wants a second
/// disk for its log.
Result<std::uint64_t> disk_bytes_of(const explorer::StageMachine& machine,
                                    const adapters::LinuxAdapter& filesystem, std::uint64_t bytes);

}  // namespace headcrash::campaign
