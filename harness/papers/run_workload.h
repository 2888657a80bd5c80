#pragma once
// A timed workload (harness/workload/timed) on a modelled machine: one fiber a user, model time for
// Pace.
//
// Phases that are not measured are followed by quiet (nothing dirty, nothing under way); measured
// ones follow each other without a pause, as a user's commands do, and the last of them is followed
// by quiet. What the disk did is counted up to that instant, since a driver's trace of the paper
// goes on until the last request: table 2 counts writes that the syncer sends after the user has
// gone. Phases are distinguished by when requests were dispatched, so that only the last measured
// one has what comes after.
//
// Before the first phase that wants it (after_cut) the power is cut, with what is dirty at that
// instant, and the machine recovers. That is told as two phases of their own, `repair` and `mount`:
// a repair that was not needed has no time. Their CPU time is the operator's.

#include <string>
#include <vector>

#include "harness/papers/modelled_machine.h"
#include "harness/workload/timed/timed_workload.h"

namespace headcrash::experiment {

/// Between the beginnings of executions of one cell: neither a part of a second nor of a
/// revolution.
inline constexpr os::TimeNs kBetweenBeginnings = 377'123'457;

struct WorkloadRun {
  std::string workload;
  timed::Arguments replaced = {};  ///< what differs from the workload's exact parameters
  bool scaled = false;             ///< start from the scaled-down ones: for tests
  bool verify =
      true;  ///< run the phases that look whether all is right; with a cut they always run
  std::uint64_t seed = 1;
  os::TimeNs begins_after_ns =
      0;  ///< a pause before what is measured: another place of the disk's angle and
          ///< of the syncer's second
  Repair repair = Repair::as_needed;  ///< after a cut
  /// The cut comes so long after the begin of the phase before it, whose calls may fail then; 0: at
  /// its end.
  os::TimeNs cut_after_ns = 0;
};

struct PhaseOutcome {
  std::string name;
  bool measured = true;
  std::size_t users = 1;
  double elapsed_s =
      0;  ///< mean of the users: from the phase's begin to the return of the last call
  double longest_s = 0;    ///< of the slowest user
  double quiescent_s = 0;  ///< until nothing was left to do; 0 where that was not waited for
  double user_cpu_s = 0;   ///< sum of the users, until their ends, and their disk waits
  os::Charged user_charged =
      {};  ///< what of user_cpu_s was charged by the table of costs, sum of the users
  double user_wait_s = 0;
  double syncer_cpu_s = 0, interrupt_cpu_s = 0;  ///< until quiet
  double cpu_busy_s = 0;                         ///< for whomever, other daemons too; until quiet
  std::uint64_t requests = 0;                    ///< as the disk saw them, after concatenation
  std::uint64_t requests_while_elapsed = 0;      ///< until the slowest user's end
  std::uint64_t issued_reads = 0, issued_writes = 0;
  std::uint64_t sectors = 0, queued_most = 0, lock_waits = 0;
  double response_ms = 0;  ///< mean: issue to completion, "driver response"
  double access_ms = 0;    ///< mean: dispatch to completion
  double disk_busy_s = 0;
  std::uint64_t drive_writes =
      0;  ///< that each drive was sent, those below an array included; until quiet
  std::uint64_t operations = 0, bytes_read = 0, bytes_written = 0;
  double operation_ms = 0,
         operation_p99_ms = 0;  ///< of single operations, as the users see them; 0: not recorded

  double operations_per_s() const {
    return longest_s > 0 ? static_cast<double>(operations) / longest_s : 0;
  }
};

struct WorkloadOutcome {
  std::string parameters;  ///< "files=535 users=4"
  std::string operation;   ///< what is counted
  std::vector<PhaseOutcome> phases;
  double modelled_s = 0;  ///< of all phases together; of a mean, of all executions

  /// The measured one of that name; null if there is none.
  const PhaseOutcome* phase(std::string_view name) const;
};

/// Of several executions of the same workload, phase by phase; at least one. The first has all
/// phases.
WorkloadOutcome mean_of(const std::vector<WorkloadOutcome>& executions);

/// Errors: an unknown workload or parameter, wrong data, what the file system refused.
Result<WorkloadOutcome> run_workload(ModelledMachine& machine, const WorkloadRun& run);

}  // namespace headcrash::experiment
