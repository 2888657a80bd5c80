#pragma once
// I/O errors of a run (RunOptions::faults, record_run.h), drawn from a seed.
//
// Reads and writes fail once, a few times or permanently, and a failed write leaves nothing, its
// first half, or all of it. Flushes do not fail: the lab's disk has no volatile cache, so the
// driver sends none. A complete write is durable, as on the paper's disk (record_run.h).
// Explorations with guests cover lost flushes (harness/campaign/surveys/io_errors_plan.h).

#include <cstdint>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/faulty_disk.h"
#include "harness/explorer/in_process/formatted_disk.h"

namespace headcrash::in_process {

/// Draws one or two faults for that disk, in an area of its type (FileSystemType::fault_areas) or
/// anywhere.
Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed);

/// Formats the faults in one line.
std::string format(const std::vector<os::DiskFault>& faults);

}  // namespace headcrash::in_process
