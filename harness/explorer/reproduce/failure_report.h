#pragma once
// Processes a failure: minimises it, confirms it on a fresh guest, and writes a report.
//
//   failing state --fewest lost writes--> minimised state of the same recording
//                                               |
//   its operations --fewest operations--> another, shorter recording with its own failing state,
//                                         which is also minimised, confirmed and kept
//
// The total time is limited. If a result is not minimal when the time is up, the report says so.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/guests/exploration.h"

namespace headcrash::explorer {

/// Records these operations on a fresh file system, with the same formatted disk and options as the
/// failed workload.
using Recorder = std::function<Result<RecordedWorkload>(
    StageGuest& guest, const std::vector<workload::Operation>& operations,
    const std::filesystem::path& recording)>;

/// Returns a recorder. Its recordings start with the same formatted disk as the recording of
/// `workload`. Returns an empty recorder if the recording of `workload` has no base, as in a
/// campaign's trial. `options` must be the disk options of `workload`, because they determine the
/// delays of requests. `filesystem` must outlive the recorder. Fails if a recording cannot be read.
Result<Recorder> recorder_like(const adapters::LinuxAdapter& filesystem,
                               const RecordedWorkload& workload, const DiskOptions& options);

struct ReportOptions {
  Recorder record;                   ///< if empty, minimises the state but not the workload
  std::filesystem::path recordings;  ///< existing directory for the recording of a smaller workload
  /// Start of the replay command, such as "headcrash replay 17 --db x.db"; --state NAME is
  /// appended.
  std::string replay;
  std::chrono::seconds limit{90};
  /// Maximum number of checks to minimise one state; 0 reports the state unchanged.
  std::size_t state_checks = 150;
  std::size_t workload_checks = 60;  ///< maximum number of shorter workloads to record
  /// Maximum number of states to check for each shorter workload. The states come from the strategy
  /// that found the failure.
  std::size_t states_per_workload = 40;
  const std::atomic<bool>* interrupted = nullptr;
};

struct FailureReport {
  bool confirmed = false;
  /// The difference between the results of the two checks, if the failure was not confirmed.
  std::string disagreement;
  std::string tier;        ///< the strongest tier of the promises that were broken
  std::string operations;  ///< the shortest failing list that was found, one operation per line
  /// Name of the minimised state in the recording of the original failure.
  std::string minimised_state;
  std::string account;     ///< plain-text account of the failure (failure_text.h)
  std::string replay;      ///< the command that reproduces minimised_state
  double minimise_ms = 0;  ///< time spent on minimising, without file I/O
  /// The recording of a shorter workload that fails, and the name of its failing state. Empty if no
  /// shorter workload fails.
  std::optional<std::filesystem::path> recording;
  std::string recording_state;
};

/// Reports a failure. `workload` is the explored workload, even if the failing state belongs to a
/// recorded recovery. Fails if a recording can no longer be read.
Result<FailureReport> report_failure(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const RecordedWorkload& workload,
                                     const ConfirmedFailure& failure, const ReportOptions& options);

/// Returns the indices of the first confirmed failure of each kind.
std::vector<std::size_t> first_of_each_kind(const std::vector<ConfirmedFailure>& failures);

}  // namespace headcrash::explorer
