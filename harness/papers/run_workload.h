#pragma once
// A timed workload (harness/workload/timed) on a modelled machine, with one fiber per user and Pace
// in model time.
//
// After phases that are not measured, the machine becomes idle (nothing dirty or in flight).
// Measured phases follow each other without a pause, like a user's commands, and the machine
// becomes idle after the last one. Disk activity is counted up to that instant, since the paper's
// driver traces continue until the last request: table 2 counts writes that the syncer sends after
// the user has finished. Phases are separated by the dispatch times of requests, so only the last
// measured one includes later writes.
//
// Before the first phase that requires it (after_cut), the power is cut with the data dirty at that
// instant, and the machine recovers. This is reported as two phases, `repair` and `mount`; an
// unnecessary repair takes no time. Their CPU time is charged to the operator.

#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::experiment {

/// Offset between the starts of executions of one cell: a multiple of neither a second nor a
/// revolution.
inline constexpr os::TimeNs kBetweenBeginnings = 377'123'457;

struct WorkloadRun {
  std::string workload;
  timed::Arguments replaced = {};  ///< overrides of the workload's exact parameters
  bool scaled = false;             ///< for tests: start from the scaled-down parameters
  bool verify = true;              ///< Run the verification phases; with a cut they always run.
  std::uint64_t seed = 1;
  /// Pause before the measurement, to vary the disk's angle and the phase of the syncer.
  os::TimeNs begins_after_ns = 0;
  Repair repair = Repair::as_needed;  ///< after a cut
  /// Time of the cut after the start of the preceding phase, whose calls may then fail; 0 for its
  /// end.
  os::TimeNs cut_after_ns = 0;
};

struct PhaseOutcome {
  std::string name;
  bool measured = true;
  std::size_t users = 1;
  /// Mean over the users: from the phase's start to the return of the last call.
  double elapsed_s = 0;
  double longest_s = 0;    ///< of the slowest user
  double quiescent_s = 0;  ///< time until idle; 0 if not awaited
  double user_cpu_s = 0;   ///< sums over the users, until they end
  /// Components of user_cpu_s from the cost table, summed over the users.
  os::Charged user_charged = {};
  double user_wait_s = 0;
  double syncer_cpu_s = 0, interrupt_cpu_s = 0;  ///< until idle
  double cpu_busy_s = 0;                         ///< total, including other daemons; until idle
  std::uint64_t requests = 0;                    ///< at the disk, after concatenation
  std::uint64_t requests_while_elapsed = 0;      ///< until the slowest user's end
  std::uint64_t issued_reads = 0, issued_writes = 0;
  std::uint64_t sectors = 0, queued_most = 0, lock_waits = 0;
  double response_ms = 0;  ///< mean: issue to completion, "driver response"
  double access_ms = 0;    ///< mean: dispatch to completion
  double disk_busy_s = 0;
  /// Requests sent to each drive, including those below an array; until idle.
  std::uint64_t drive_writes = 0;
  std::uint64_t operations = 0, bytes_read = 0, bytes_written = 0;
  double operation_ms = 0,
         operation_p99_ms = 0;  ///< Of single operations, as seen by users; 0 if not recorded.

  double operations_per_s() const {
    return longest_s > 0 ? static_cast<double>(operations) / longest_s : 0;
  }
};

struct WorkloadOutcome {
  std::string parameters;  ///< "files=535 users=4"
  std::string operation;   ///< unit of the counts
  std::vector<PhaseOutcome> phases;
  double modelled_s = 0;  ///< over all phases; for a mean, over all executions

  /// Returns the measured phase of that name; null if it does not exist.
  const PhaseOutcome* phase(std::string_view name) const;
};

/// Returns the mean of executions of one workload, phase by phase. Requires at least one; the first
/// must have all phases.
WorkloadOutcome mean_of(const std::vector<WorkloadOutcome>& executions);

/// Runs a workload. Fails for an unknown workload or parameter, wrong data, or an error of the file
/// system.
Result<WorkloadOutcome> run_workload(ModelledMachine& machine, const WorkloadRun& run);

}  // namespace headcrash::experiment
