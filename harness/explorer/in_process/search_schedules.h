#pragma once
// Runs a shared history (record_run.h) under many schedules, to find one that breaks a rule.
//
// Each run must agree with a serial order and break no invariant, and the unmounted image must have
// the same tree. The crash states of these runs are not checked. A run takes about a millisecond; a
// check of its crash states would take about a hundred times as long. Crash states are checked only
// in explorations, under a single schedule.

#include <cstddef>
#include <optional>
#include <string>

#include "harness/explorer/in_process/record_run.h"

namespace headcrash::in_process {

struct ScheduleSearch {
  /// Maximum number of places in which a schedule differs from FIFO order. All such schedules are
  /// run (os::ScheduleEnumerator), with requests in the elevator's order.
  std::size_t deviations = 0;
  /// Number of additional schedules, generated from seeds. Successive runs use different request
  /// orders.
  std::size_t random = 0;
  std::size_t enumerated_most = 2'000;
};

struct SearchedSchedules {
  std::size_t schedules = 0;  ///< number of runs
  /// Failure of the first failed run, including the schedule of that run.
  std::optional<std::string> failure;
  std::optional<RunOptions> failed_run;  ///< nullopt if the schedule was enumerated
};

/// Runs a shared history under many schedules. `options` must select a shared history. Replaces
/// `recording`. Fails for the same reasons as record_run().
Result<SearchedSchedules> search_schedules(const FormattedDisk& formatted, StateDisk& disk,
                                           const adapters::SystemUnderTest& system,
                                           std::span<const workload::Operation> operations,
                                           const RunOptions& options, const ScheduleSearch& search,
                                           const std::filesystem::path& recording);

}  // namespace headcrash::in_process
