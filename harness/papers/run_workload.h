#pragma once
// Runs a timed workload (harness/workload/timed) on a modelled machine, with one fiber per user and
// Pace in model time.
//
// After an unmeasured phase, the machine waits until it is idle (nothing dirty or in flight).
// Measured phases follow each other without a pause, like a user's commands; after the last
// measured phase, the machine waits until it is idle. Disk activity is counted up to that instant,
// because the driver traces of Ganger and Patt 1994 continue until the last request: their table 2
// counts writes that the syncer sends after the user has finished. Requests are assigned to phases
// by their dispatch times, so only the last measured phase includes later writes.
//
// Before the first phase with after_cut, the power is cut regardless of which data is dirty at that
// instant, and the machine recovers. The recovery is reported as two phases, `repair` and `mount`;
// an unnecessary repair takes no time. The CPU time of these phases is charged to the operator.

#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::experiment {

/// Interval between the start times of a cell's executions. It is a multiple neither of a second
/// nor of the disk's revolution time.
inline constexpr os::TimeNs kBetweenBeginnings = 377'123'457;

struct WorkloadRun {
  std::string workload;
  timed::Arguments replaced = {};  ///< parameter values that replace the workload's defaults
  bool scaled = false;             ///< for tests: use the scaled-down parameters as defaults
  bool verify = true;              ///< run the verification phases; after a cut they always run
  std::uint64_t seed = 1;
  /// Pause before the measurement. Its duration shifts the initial angle of the disk and the phase
  /// of the syncer's sweep.
  os::TimeNs begins_after_ns = 0;
  Repair repair = Repair::as_needed;  ///< repair after a cut
  /// The power is cut at this time after the start of the last phase before the cut. Calls in that
  /// phase may then fail. If 0, the power is cut at the end of the phase.
  os::TimeNs cut_after_ns = 0;
};

struct PhaseOutcome {
  std::string name;
  bool measured = true;
  std::size_t users = 1;
  /// Mean elapsed time of a user, from the start of the phase until the user's last call returns.
  double elapsed_s = 0;
  double longest_s = 0;    ///< elapsed time of the slowest user
  double quiescent_s = 0;  ///< time until the machine is idle; 0 if the run did not wait for this
  double user_cpu_s = 0;   ///< sum over all users; each user's time is counted until the user ends
  /// The breakdown of `user_cpu_s` by the costs in the cost table, summed over all users.
  os::Charged user_charged = {};
  double user_wait_s = 0;
  double syncer_cpu_s = 0, interrupt_cpu_s = 0;  ///< measured until the machine is idle
  /// All processor time until the machine is idle, including the time of other daemons.
  double cpu_busy_s = 0;
  std::uint64_t requests = 0;  ///< counted at the disk, after concatenation
  /// Number of requests before the slowest user finished.
  std::uint64_t requests_while_elapsed = 0;
  std::uint64_t issued_reads = 0, issued_writes = 0;
  std::uint64_t sectors = 0, queued_most = 0, lock_waits = 0;
  /// Mean time from issue to completion, which Ganger and Patt call "driver response".
  double response_ms = 0;
  double access_ms = 0;  ///< mean time from dispatch to completion
  double disk_busy_s = 0;
  /// Number of write requests to all drives, including those of an array, until the machine is
  /// idle.
  std::uint64_t drive_writes = 0;
  std::uint64_t operations = 0, bytes_read = 0, bytes_written = 0;
  /// Only for snapfs: number of generations committed before the slowest user ended.
  std::uint64_t generations = 0;
  /// Latency of single operations from the users' point of view: the mean and the 99th percentile.
  /// 0 if not recorded.
  double operation_ms = 0, operation_p99_ms = 0;

  double operations_per_s() const {
    return longest_s > 0 ? static_cast<double>(operations) / longest_s : 0;
  }
};

struct WorkloadOutcome {
  std::string parameters;  ///< "files=535 users=4"
  std::string operation;   ///< the operation that is counted, in the plural, for example "files"
  std::vector<PhaseOutcome> phases;
  /// Model time of all phases; for a mean outcome, summed over all executions.
  double modelled_s = 0;

  /// Returns the measured phase with that name, or null if there is no such phase.
  const PhaseOutcome* phase(std::string_view name) const;
};

/// Returns the mean over several executions of one workload, phase by phase. Requires at least one
/// execution. The first execution must contain all phases.
WorkloadOutcome mean_of(const std::vector<WorkloadOutcome>& executions);

/// Runs a workload. Fails if the workload or a parameter is unknown, if data is wrong, or if the
/// file system returns an error.
Result<WorkloadOutcome> run_workload(ModelledMachine& machine, const WorkloadRun& run);

}  // namespace headcrash::experiment
