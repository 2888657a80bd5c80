#pragma once
// Executes a workload's operations, those of different threads side by side
// (harness/workload/operation.h).
//
// A persistence point that has succeeded is reported when all points before it in the list have
// been; its thread waits for that and continues only afterwards. Points that were skipped hold
// nobody up. The first failure, or a report that cannot be made, ends the run: each thread stops
// before its next operation. With continue_after_failure a failed operation is reported and the run
// continues, which shows what a file system says after an I/O error.

#include <cstddef>
#include <functional>
#include <span>

#include "fs-adapters/vfs.h"
#include "harness/workload/operation.h"

namespace headcrash::guest {

/// Called by one thread at a time, with numbers of operations in the list.
struct RunReports {
  std::function<VfsResult<void>(std::size_t operation)> persisted;
  std::function<void(std::size_t operation, workload::Outcome outcome, int error)> failed;
};

struct RunOptions {
  bool skipped_before =
      false;  ///< by an earlier part of the same workload: names and attributes it would
              ///< have made may be missing
  bool continue_after_failure = false;
};

struct RunEnd {
  std::size_t done =
      0;  ///< operations gone through; all of them unless one failed and ended the run
  int report_error = 0;  ///< errno of a report that could not be made
};

/// `vfs` must allow calls from several threads if the list has several.
RunEnd run_operations(std::span<const workload::Operation> operations, Vfs& vfs,
                      const RunReports& reports, const RunOptions& options = {});

}  // namespace headcrash::guest
