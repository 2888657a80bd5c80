#pragma once
// Processes a failure: minimises it, confirms it on a fresh guest, and writes a report.
//
//   failing state --fewest lost writes--> minimised state of the same recording
//                                               |
//   its operations --fewest operations--> another, shorter recording with a separate failing state,
//                                         which is also minimised, confirmed and kept
//
// Time is bounded; a result that is not minimal at the end is marked as such.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/exploration.h"

namespace headcrash::explorer {

/// Records these operations on a fresh file system, in the same way as the failed workload.
using Recorder = std::function<run::Step<RecordedWorkload>(
    StageGuest& guest, const std::vector<workload::Operation>& operations,
    const std::filesystem::path& recording)>;

/// Returns a recorder that starts with the formatted disk on which this workload's recording is
/// based; empty without a base (a trial of a campaign). `options` are those of the workload's disk,
/// so that its delays recur. `filesystem` must outlive it. Fails if a recording cannot be read.
Result<Recorder> recorder_like(const adapters::LinuxAdapter& filesystem,
                               const RecordedWorkload& workload, const DiskOptions& options);

struct ReportOptions {
  Recorder record;                   ///< empty to keep the workload unchanged
  std::filesystem::path recordings;  ///< existing folder for the recording of a smaller workload
  std::string replay;  ///< "headcrash replay 17 --db x.db", to which --state NAME is appended
  std::chrono::seconds limit{90};    ///< total time limit
  std::size_t state_checks = 150;    ///< checks for minimising one state; 0 reports it unchanged
  std::size_t workload_checks = 60;  ///< number of workloads to record
  std::size_t states_per_workload = 40;  ///< states of the strategy that found the failure
  const std::atomic<bool>* interrupted = nullptr;
};

struct FailureReport {
  bool confirmed = false;
  std::string disagreement;     ///< difference in the repetition, if not confirmed
  std::string tier;             ///< the strongest tier violated
  std::string operations;       ///< one per line; the smallest failing set found
  std::string minimised_state;  ///< state of the failure's own recording
  std::string account;          ///< failure_text.h
  std::string replay;           ///< the command that shows minimised_state
  double minimise_ms = 0;       ///< time spent on minimising, without reading and writing
  /// Recording of the smaller workload, if any, and its failing state.
  std::optional<std::filesystem::path> recording;
  std::string recording_state;
};

/// Reports a failure. `workload` is the explored one, also for a state of a recovery. Fails if a
/// recording can no longer be read.
Result<FailureReport> report_failure(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     const ConfirmedFailure& failure, const ReportOptions& options);

/// Returns the indices of the first confirmed failure of each kind.
std::vector<std::size_t> first_of_each_kind(const std::vector<ConfirmedFailure>& failures);

}  // namespace headcrash::explorer
