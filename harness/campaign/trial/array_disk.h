#pragma once
// The size of the disk that a stage's machine provides (harness/explorer/guests/stage_machine.h).

#include <cstdint>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/base/result.h"

namespace headcrash::campaign {

/// Returns the size of the disk that the machine provides if `bytes` are requested. The two sizes
/// differ if an array has to be rounded to whole stripes. Fails if the profile is unknown, if the
/// size is invalid, or if a fault names a missing device. Also fails if the profile describes a
/// single drive, whose crash states are derived from its writes without a machine. Also fails for
/// an array if the file system has its log on a second disk.
Result<std::uint64_t> disk_bytes_of(const explorer::StageMachine& machine,
                                    const adapters::LinuxAdapter& filesystem, std::uint64_t bytes);

}  // namespace headcrash::campaign
