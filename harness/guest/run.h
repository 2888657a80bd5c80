#pragma once
// Executes a workload's operations, those of different threads concurrently
// (harness/workload/operation.h).
//
// A persistence point that has succeeded is reported after all earlier points in the list. Its
// thread waits for the report before it continues. Skipped points block no thread. The first
// failure, or a failed report, ends the run: each thread stops before its next operation. With
// continue_after_failure a failed operation is reported and the run continues, which shows the file
// system's behaviour after an I/O error.

#include <cstddef>
#include <functional>
#include <span>

#include "fs-adapters/vfs.h"
#include "harness/workload/operation.h"

namespace headcrash::guest {

/// Called by one thread at a time, with operation numbers in the list.
struct RunReports {
  std::function<VfsResult<void>(std::size_t operation)> persisted;
  std::function<void(std::size_t operation, workload::Outcome outcome, int error)> failed;
};

struct RunOptions {
  /// An earlier part of the same workload skipped operations, so names and attributes may be
  /// missing.
  bool skipped_before = false;
  bool continue_after_failure = false;
};

struct RunEnd {
  /// Number of operations executed; all of them unless a failure ended the run.
  std::size_t done = 0;
  int report_error = 0;  ///< errno of a failed report
};

/// Runs a list. `vfs` must be thread-safe if the list has several threads.
RunEnd run_operations(std::span<const workload::Operation> operations, Vfs& vfs,
                      const RunReports& reports, const RunOptions& options = {});

}  // namespace headcrash::guest
