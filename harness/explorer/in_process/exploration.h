#pragma once
// All crash states of one workload under one scheme, in this process: the lab without guests.
//
//   record_run -> StateEnumerator -> OrderRules -> StateDisk -> StateChecker, one state after the
//   other
//
// States that the driver's rules do not allow are counted and left out. States are checked
// incrementally (check_state.h); one in twenty, drawn by its digest, and every one that fails, in
// full as well, and a difference between the two ends the exploration with an error. Where the run
// had settled, what the disk held is checked first, whatever the strategies say: no residue may be
// there. Of a run with faults the same is done where the medium tells most, and then cuts from the
// first failure on are looked at. What fsck has put right is audited (FileSystemType::audit), of
// large disks when the full check is done, and a contradiction ends the exploration, too. With
// ExplorationOptions::damage the run ends with an unmount, and what that leaves is damaged,
// repaired and compared (FileSystemType::repair_trials): again, a repair that is wrong ends it. One
// Bench for each thread: it has the one flat image, and everything on it is of this thread.

#include <atomic>
#include <functional>

#include "harness/explorer/in_process/check_state.h"
#include "harness/explorer/in_process/record_run.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::in_process {

/// Images that are made of the one that an unmount leaves.
struct DamageOptions {
  std::uint64_t seed = 1;  ///< of the first one; each next one has the next
  std::uint64_t images = 12;
};

struct ExplorationOptions {
  std::vector<states::Strategy> strategies{states::Strategy::lose_all, states::Strategy::prefix,
                                           states::Strategy::reorder, states::Strategy::torn};
  std::uint64_t budget = 1000;  ///< distinct states; those that the rules forbid count, too
  std::uint64_t reorder_per_cut = 16;
  RunOptions run;
  std::uint64_t from_operation =
      0;  ///< cuts before it is persistent are left out: a workload's set-up
  std::size_t failures_kept = 20;  ///< with all that is known; more are counted
  std::uint64_t verify_one_in =
      20;  ///< states that keep the rules and are checked in full as well; 1: all
  std::optional<DamageOptions> damage = {};  ///< then RunOptions::unmount has to be set
  const std::atomic<bool>* interrupted = nullptr;
  /// Becomes true when an error says that a checker, a second run or the lab contradicts itself: a
  /// detection, where other errors are of the host.
  bool* contradicted = nullptr;
};

struct ExploredState {
  std::string state;  ///< its name in the recording
  states::Strategy strategy = states::Strategy::prefix;
  std::uint64_t digest = 0;
  double wall_ms = 0;
  StateOutcome outcome;
  // confirm.h
  bool confirmed = false;
  std::string disagreement;     ///< what the repeated run gave
  std::string minimised_state;  ///< with the fewest lost writes; empty: not tried
};

/// What became of a strategy's states.
struct StrategyCoverage {
  states::Coverage found;
  std::uint64_t checked = 0,
                forbidden = 0;  ///< of the distinct ones; the rest was left when interrupted
};

struct ExplorationResult {
  RecordedRun run;
  std::vector<StrategyCoverage> coverage;
  std::uint64_t generated = 0;  ///< distinct states
  std::uint64_t forbidden = 0;  ///< of these, by the driver's rules
  std::uint64_t checked = 0, clean = 0;
  std::uint64_t verified = 0;  ///< of the checked ones, in full
  std::uint64_t settled = 0;   ///< checked beside these: nothing was owed there
  std::uint64_t telling = 0;   ///< likewise: of a run with faults
  std::map<adapters::FindingKind, std::uint64_t>
      found;  ///< states in which the first check found it
  std::map<oracle::Verdict, std::uint64_t> verdicts;
  std::vector<ExploredState> failures;
  adapters::DamageCounts damage;
  adapters::Counters recovery;  ///< of the system's other recovery (StateChecker::recovery_counts)
  StepTimes step_ms = {};
  double record_ms = 0, load_ms = 0, damage_ms = 0, wall_ms = 0;
};

class Bench {
 public:
  /// `formatted` must outlive it.
  explicit Bench(const FormattedDisk& formatted)
      : formatted_(formatted),
        disk_(formatted.bytes, formatted.log_at),
        fsck_(formatted.type->checker()),
        audit_(formatted.type->audit()) {}

  /// Of a system of the disk's type. Records into `recording`, replacing it. Errors: what
  /// record_run() says; a list that the oracle cannot follow.
  Result<ExplorationResult> explore(const adapters::SystemUnderTest& system,
                                    std::span<const workload::Operation> operations,
                                    const ExplorationOptions& options,
                                    const std::filesystem::path& recording);

  /// One state of a recording that explore() or record_run() made of these operations: that of
  /// `recorded`, or one of the same run made again.
  Result<ExploredState> check(const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const RecordedRun& recorded, const std::filesystem::path& recording,
                              const std::string& state);

 private:
  Result<void> damage(const ExplorationOptions& options, ExplorationResult& result);

  const FormattedDisk& formatted_;
  StateDisk disk_;
  std::unique_ptr<adapters::ImageChecker> fsck_;
  std::unique_ptr<adapters::ImageAudit> audit_;  ///< null: the type has none
};

}  // namespace headcrash::in_process
