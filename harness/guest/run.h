#pragma once
// Executes a workload's operations. Operations on different threads run concurrently
// (harness/workload/operation.h).
//
// A persistence point that has succeeded is reported after all earlier points in the list. Its
// thread waits for the report before it continues. A skipped point does not delay the reports of
// later points. The first failure, or a failed report, ends the run: each thread stops before its
// next operation. With continue_after_failure, a failed operation is reported and the run
// continues, which shows how the file system behaves after an I/O error.

#include <cstddef>
#include <functional>
#include <span>

#include "fs-adapters/vfs.h"
#include "harness/workload/operation.h"

namespace headcrash::guest {

/// Callbacks that are called by one thread at a time. Operations are identified by their index in
/// the list.
struct RunReports {
  std::function<VfsResult<void>(std::size_t operation)> persisted;
  std::function<void(std::size_t operation, workload::Outcome outcome, int error)> failed;
};

struct RunOptions {
  /// Set to true if an earlier part of the same workload skipped operations. Names and attributes
  /// may then be missing.
  bool skipped_before = false;
  bool continue_after_failure = false;
};

struct RunEnd {
  /// Number of operations executed. Smaller than the length of the list only if a failure ended the
  /// run.
  std::size_t done = 0;
  int report_error = 0;  ///< errno of a failed report
};

/// Runs a list of operations. `vfs` must be thread-safe if the list has several threads.
RunEnd run_operations(std::span<const workload::Operation> operations, Vfs& vfs,
                      const RunReports& reports, const RunOptions& options = {});

}  // namespace headcrash::guest
