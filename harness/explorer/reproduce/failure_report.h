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

/// Records these operations on a fresh file system, under the same conditions as the failed
/// workload.
using Recorder = std::function<Result<RecordedWorkload>(
    StageGuest& guest, const std::vector<workload::Operation>& operations,
    const std::filesystem::path& recording)>;

/// Returns a recorder that starts with the formatted disk on which the recording of `workload` is
/// based. The recorder is empty if the recording has no base (a campaign's trial). `options` are
/// the disk options of `workload`, so that the same delays recur. `filesystem` must outlive the
/// recorder. Fails if a recording cannot be read.
Result<Recorder> recorder_like(const adapters::LinuxAdapter& filesystem,
                               const RecordedWorkload& workload, const DiskOptions& options);

struct ReportOptions {
  Recorder record;                   ///< empty to minimise only the state and not the workload
  std::filesystem::path recordings;  ///< existing folder for the recording of a smaller workload
  std::string replay;  ///< "headcrash replay 17 --db x.db", to which --state NAME is appended
  std::chrono::seconds limit{90};  ///< total time limit
  /// Maximum number of checks when one state is minimised; 0 to report it unchanged.
  std::size_t state_checks = 150;
  std::size_t workload_checks = 60;  ///< number of workloads to record
  /// Maximum number of states for each workload, from the strategy that found the failure.
  std::size_t states_per_workload = 40;
  const std::atomic<bool>* interrupted = nullptr;
};

struct FailureReport {
  bool confirmed = false;
  /// How the two checks differ, if the failure was not confirmed.
  std::string disagreement;
  std::string tier;        ///< the strongest tier whose promise was broken
  std::string operations;  ///< the smallest failing list that was found, one operation per line
  std::string minimised_state;  ///< the minimised state in the original failure's recording
  std::string account;          ///< text of failure_text.h
  std::string replay;           ///< the command that reproduces minimised_state
  double minimise_ms = 0;       ///< time spent on minimising, excluding file I/O
  /// The recording of the smaller workload, if there is one, and its failing state.
  std::optional<std::filesystem::path> recording;
  std::string recording_state;
};

/// Reports a failure. `workload` is the explored workload, even if the failing state is one of a
/// recovery. Fails if a recording can no longer be read.
Result<FailureReport> report_failure(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     const ConfirmedFailure& failure, const ReportOptions& options);

/// Returns the indices of the first confirmed failure of each kind.
std::vector<std::size_t> first_of_each_kind(const std::vector<ConfirmedFailure>& failures);

}  // namespace headcrash::explorer
