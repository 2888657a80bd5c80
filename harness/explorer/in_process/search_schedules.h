#pragma once
// Searches the schedules of a shared history (record_run.h) for one that breaks a rule.
//
// A run whose crash states are not checked takes about a millisecond, a hundredth of the time of a
// run whose states are checked. Therefore many schedules are run without this check. Each must have
// a serial order, an unmounted image with the same tree, and no broken invariant. States are
// checked only for one schedule.

#include <cstddef>
#include <optional>
#include <string>

#include "harness/explorer/in_process/record_run.h"

namespace headcrash::in_process {

struct ScheduleSearch {
  /// First, all schedules are run that differ from FIFO order in at most this many places
  /// (os::ScheduleEnumerator). Requests are in the elevator's order.
  std::size_t deviations = 0;
  /// Number of additional schedules, which are generated from seeds. The runs use the orders of
  /// requests in turn.
  std::size_t random = 0;
  std::size_t enumerated_most = 2'000;
};

struct SearchedSchedules {
  std::size_t schedules = 0;  ///< number of runs
  /// Failure of the first run that fails. Names the run's schedule.
  std::optional<std::string> failure;
  std::optional<RunOptions> failed_run;  ///< the failed run, unless its schedule was enumerated
};

/// Runs a shared history under many schedules. `options` must select a shared history. Replaces
/// `recording`. Fails for the same reasons as record_run().
Result<SearchedSchedules> search_schedules(const FormattedDisk& formatted, StateDisk& disk,
                                           const adapters::SystemUnderTest& system,
                                           std::span<const workload::Operation> operations,
                                           const RunOptions& options, const ScheduleSearch& search,
                                           const std::filesystem::path& recording);

}  // namespace headcrash::in_process
