#pragma once
// Executes the operations of a workload. Operations on different threads run concurrently
// (harness/workload/operation.h).
//
// A persistence point is reported after it has succeeded and all earlier points in the list have
// been reported. Its thread waits for the report before it continues. If a point is skipped, later
// points need not wait for it. The first failed operation or failed report ends the run: each
// thread stops before its next operation. With continue_after_failure, a failed operation is
// reported and the run continues, which shows how the file system behaves after an I/O error.

#include <cstddef>
#include <functional>
#include <span>

#include "fs-adapters/vfs.h"
#include "harness/workload/operation.h"

namespace headcrash::guest {

/// Callbacks. They are never called concurrently. `operation` is an index in the list.
struct RunReports {
  std::function<VfsResult<void>(std::size_t operation)> persisted;
  std::function<void(std::size_t operation, workload::Outcome outcome, int error)> failed;
};

struct RunOptions {
  /// True if operations in an earlier part of the same workload were skipped. Names and attributes
  /// may then be missing.
  bool skipped_before = false;
  bool continue_after_failure = false;
};

struct RunEnd {
  /// Number of operations that were executed. If no failure ended the run, it equals the length of
  /// the list.
  std::size_t done = 0;
  int report_error = 0;  ///< errno of the failed RunReports callback; 0 if none failed
};

/// Runs a list of operations. If the list has several threads, `vfs` must be thread-safe.
RunEnd run_operations(std::span<const workload::Operation> operations, Vfs& vfs,
                      const RunReports& reports, const RunOptions& options = {});

}  // namespace headcrash::guest
