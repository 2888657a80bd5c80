#pragma once
// The disk of a stage's machine (harness/explorer/guests/stage_machine.h).

#include <cstdint>

#include "fs-adapters/linux/adapter.h"
#include "harness/explorer/guests/stage_machine.h"
#include "plugin/base/result.h"

namespace headcrash::campaign {

/// Returns the size of the machine's disk for a requested size of `bytes`, because arrays have
/// whole stripes. Fails for an unknown profile, a single drive (its states follow from its writes),
/// an invalid size, a fault on a missing device, and an array for a file system whose log is on a
/// second disk.
Result<std::uint64_t> disk_bytes_of(const explorer::StageMachine& machine,
                                    const adapters::LinuxAdapter& filesystem, std::uint64_t bytes);

}  // namespace headcrash::campaign
