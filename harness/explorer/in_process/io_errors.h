#pragma once
// Generates the I/O errors of a run (RunOptions::faults, record_run.h) from a seed.
//
// Reads and writes fail once, a few times or permanently. When a write fails, none of it, its first
// half, or all of it is stored. Flushes never fail: the simulated disk has no volatile cache, so a
// complete write is durable and the driver sends no flushes (record_run.h). Failed flushes are
// tested with guests (harness/campaign/surveys/io_errors_plan.h).

#include <cstdint>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/faulty_disk.h"
#include "harness/explorer/in_process/formatted_disk.h"

namespace headcrash::in_process {

/// A seed generates only failing reads if its remainder modulo kFaultSeeds is kFirstReadFaults or
/// more.
inline constexpr std::uint64_t kFaultSeeds = 1000, kFirstReadFaults = 900;

/// Generates one or two faults for this disk. Each affects either one of the file system's areas
/// (FileSystemType::fault_areas) or a random position on the disk.
Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed);

/// Formats the faults on one line.
std::string format(const std::vector<os::DiskFault>& faults);

}  // namespace headcrash::in_process
