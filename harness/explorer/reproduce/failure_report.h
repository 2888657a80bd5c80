#pragma once
// What becomes of a failure: it is made small, seen once more on a fresh guest, and told in
// writing.
//
//   failing state --fewest lost writes--> minimised state of the same recording
//                                               |
//   its operations --fewest operations--> another, shorter recording, with a failing state of its own,
//                                         which is minimised likewise, confirmed, and kept
//
// All of it is bounded: what is not minimal when the time is over is marked as such.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/exploration.h"

namespace headcrash::explorer {

/// Records these operations on a fresh file system, as the workload that failed was recorded.
using Recorder = std::function<run::Step<RecordedWorkload>(
    StageGuest& guest, const std::vector<workload::Operation>& operations,
    const std::filesystem::path& recording)>;

/// From the formatted disk that this workload's recording is based on. Empty: it has no base (a
/// trial of a campaign). `options`: of the workload's disk, so that its delays come again.
/// `filesystem` must outlive it. Errors: a recording that cannot be read.
Result<Recorder> recorder_like(const adapters::LinuxAdapter& filesystem,
                               const RecordedWorkload& workload, const DiskOptions& options);

struct ReportOptions {
  Recorder record;  ///< empty: the workload is not made smaller
  std::filesystem::path
      recordings;      ///< existing folder where the recording of a smaller workload is kept
  std::string replay;  ///< "headcrash replay 17 --db x.db": --state NAME is added
  std::chrono::seconds limit{90};        ///< for all of it
  std::size_t state_checks = 150;        ///< to minimise one state; 0: it is reported as found
  std::size_t workload_checks = 60;      ///< workloads that are recorded again
  std::size_t states_per_workload = 40;  ///< of the strategy that had found the failure
  const std::atomic<bool>* interrupted = nullptr;
};

struct FailureReport {
  bool confirmed = false;
  std::string disagreement;     ///< not confirmed: what differed
  std::string tier;             ///< the strongest that is broken
  std::string operations;       ///< one a line; the fewest that were found to fail
  std::string minimised_state;  ///< of the failure's own recording
  std::string account;          ///< failure_text.h
  std::string replay;           ///< the command that shows minimised_state
  double minimise_ms = 0;       ///< of what it took; the rest was reading and writing
  /// Of the smaller workload, if there is one, and its failing state.
  std::optional<std::filesystem::path> recording;
  std::string recording_state;
};

/// `workload`: the one explored, also for a state of a recovery. Errors: a recording that cannot be
/// read any more.
Result<FailureReport> report_failure(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     const ConfirmedFailure& failure, const ReportOptions& options);

/// The indices of the first confirmed failure of each kind: what is worth the time.
std::vector<std::size_t> first_of_each_kind(const std::vector<ConfirmedFailure>& failures);

}  // namespace headcrash::explorer
