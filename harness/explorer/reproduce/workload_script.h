#pragma once
// A shell script that repeats a failure from the beginning, as a test of fstests does: mkfs, the
// operations by xfs_io and the usual tools on a disk under dm-log-writes, marks after each
// operation that is to make something persistent, a disk rebuilt from the log up to the mark, and a
// look at it (workload.sh in this folder is the constant part).
//
// Content is not a stamp there but one byte, the version of the write, as `xfs_io pwrite -S` fills
// it in.

#include <optional>
#include <span>
#include <string>

#include "harness/explorer/reproduce/reproducer.h"

namespace headcrash::explorer {

/// The operations as lines of shell, each with its number, its words and the mark after it. Errors
/// name the operation: one of a second thread, of a transaction, that was done in part, of a
/// version that no byte holds, or the seventh file that is open at once.
Result<std::string> operations_in_shell(
    std::span<const workload::Operation> operations,
    std::span<const workload::FailedOperation> failed_operations);

/// Errors: those of operations_in_shell and can_be_reproduced; no operations are known.
Result<std::string> workload_script(const ReproducerOf& of);

}  // namespace headcrash::explorer
