#pragma once
// A shell script that repeats a failure from the start, like a test in fstests. It runs mkfs,
// executes the operations with xfs_io and standard tools on a disk under dm-log-writes, and writes
// a mark after each persistence point. It then rebuilds the disk from the log up to the mark and
// examines it (workload.sh in this folder is the constant part).
//
// The contents are not stamps but one repeated byte, the version of the write, as filled in by
// `xfs_io pwrite -S`.

#include <optional>
#include <span>
#include <string>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// Returns the operations as shell lines. Each line has the operation's number, its text and the
/// following mark. Fails for operations on a second thread, transactions, partial operations,
/// versions that do not fit in a byte, and more than six open files. Errors name the operation.
Result<std::string> operations_in_shell(
    std::span<const workload::Operation> operations,
    std::span<const workload::FailedOperation> failed_operations);

/// Returns the script. Fails like operations_in_shell() and can_be_reproduced(), or if no
/// operations are known.
Result<std::string> workload_script(const ReproducerOf& of);

}  // namespace headcrash::explorer
