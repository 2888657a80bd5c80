#pragma once
// Writes a shell script that repeats a failure from the start, like a test in fstests. The script
// runs mkfs, executes the operations with xfs_io and standard tools on a disk under dm-log-writes,
// and writes a mark after each persistence point. It then rebuilds the disk from the log up to the
// mark and examines it (workload.sh in this directory is the constant part).
//
// The script writes no stamps. Instead, it fills each write with one byte, the version of the
// write, using `xfs_io pwrite -S`.

#include <optional>
#include <span>
#include <string>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// Returns the operations as shell lines. Each line has the operation's number and text, and sets
/// the mark that follows the operation. Fails for operations on a second thread, transactions,
/// partial operations, versions that do not fit in a byte, and more than six open files. Errors
/// name the operation.
Result<std::string> operations_in_shell(
    std::span<const workload::Operation> operations,
    std::span<const workload::FailedOperation> failed_operations);

/// Returns the script. Fails if operations_in_shell() or can_be_reproduced() fails, or if no
/// operations are known.
Result<std::string> workload_script(const ReproducerOf& of);

}  // namespace headcrash::explorer
