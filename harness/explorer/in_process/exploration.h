#pragma once
// Explores all crash states of one workload under one scheme, in this process and without guests.
//
//   record_run -> StateEnumerator -> OrderRules -> StateDisk -> StateChecker, one state after
//   another
//
// States that the driver's rules forbid are counted and omitted. States are checked incrementally
// (check_state.h). A share of them, drawn by their digests, and every failure are also checked in
// full; a difference between the two ends the exploration with an error. Where the run had settled, the
// content of the disk is checked first, whatever the strategies; it must have no residue. For a run
// with faults, the same is done where the medium is most informative, followed by cuts from the
// first failure on. Repairs by fsck are audited (FileSystemType::audit), on large disks only with
// the full check, and a contradiction also ends the exploration. With ExplorationOptions::damage
// the run ends with an unmount; its image is damaged, repaired and compared
// (FileSystemType::repair_trials), and a wrong repair also ends the exploration. Use one
// DiskExplorer per thread: it owns the flat image, and all its data belongs to this thread.

#include <atomic>
#include <functional>

#include "harness/explorer/in_process/check_state.h"
#include "harness/explorer/in_process/record_run.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::in_process {

/// Options for images that are damaged on purpose. They are derived from the image after a clean
/// unmount.
struct DamageOptions {
  /// Seed of the first image; the seed increases by 1 for each further image.
  std::uint64_t seed = 1;
  std::uint64_t images = 12;
};

struct ExplorationOptions {
  std::vector<states::Strategy> strategies{states::Strategy::lose_all, states::Strategy::prefix,
                                           states::Strategy::reorder, states::Strategy::torn};
  /// Number of distinct states, including those that the driver's rules forbid.
  std::uint64_t budget = 1000;
  std::uint64_t reorder_per_cut = 16;
  RunOptions run;
  /// Omits cuts before this operation is persistent, so that a workload's set-up is not explored.
  std::uint64_t from_operation = 0;
  std::size_t failures_kept = 20;  ///< failures stored in full; further ones are counted
  /// Fraction of states without a failure that are also checked in full; 1 for all. The second
  /// fraction applies to states whose outcome was remembered (StateOutcome::remembered).
  std::uint64_t verify_one_in = 20, verify_remembered_one_in = 200;
  std::optional<DamageOptions> damage = {};  ///< requires RunOptions::unmount
  const std::atomic<bool>* interrupted = nullptr;
  oracle::TreeJudge judge = {};  ///< judges trees in place of the oracle, if set
  /// Called for each checked state.
  std::function<void(const states::FoundState&, const StateOutcome&)> on_state = {};
  /// Set to true if the error is a contradiction: within a checker, between two runs, or within the
  /// lab. Other errors are caused by the host.
  bool* contradicted = nullptr;
};

struct ExploredState {
  std::string state;  ///< name of the state in the recording
  states::Strategy strategy = states::Strategy::prefix;
  std::uint64_t digest = 0;
  double wall_ms = 0;
  StateOutcome outcome;
  // The following members are set by confirm_failures() (confirm.h).
  bool confirmed = false;
  std::string disagreement;  ///< the second run's different result, if not confirmed
  /// The failing state with the fewest lost writes; empty if there was no search.
  std::string minimised_state;
};

/// How many states from a strategy were checked.
struct StrategyCoverage {
  states::Coverage found;
  std::uint64_t checked = 0,
                forbidden = 0;  ///< distinct states; an interruption omits the remaining ones
};

struct ExplorationResult {
  RecordedRun run;
  std::vector<StrategyCoverage> coverage;
  std::uint64_t generated = 0;  ///< distinct states
  std::uint64_t forbidden = 0;  ///< generated states that the driver's rules forbid
  std::uint64_t checked = 0, clean = 0;
  std::uint64_t verified = 0;    ///< checked states that were also checked in full
  std::uint64_t remembered = 0;  ///< checked states whose outcome was known from equal states
  /// states that were checked additionally because nothing was pending
  std::uint64_t settled = 0;
  /// States that were checked additionally because faults make them informative.
  std::uint64_t informative = 0;
  /// Number of states in which the first check found each kind.
  std::map<adapters::FindingKind, std::uint64_t> found;
  std::map<oracle::Verdict, std::uint64_t> verdicts;
  std::vector<ExploredState> failures;
  adapters::DamageCounts damage;
  /// Counters of the system's alternative recovery (StateChecker::recovery_counts).
  adapters::Counters recovery;
  StepTimes step_ms = {};
  double record_ms = 0, load_ms = 0, damage_ms = 0, wall_ms = 0;
};

class DiskExplorer {
 public:
  /// `formatted` must outlive this object.
  explicit DiskExplorer(const FormattedDisk& formatted);

  /// Explores a system that uses the disk's type. Replaces `recording`. Fails if record_run() fails
  /// or the oracle cannot follow the list.
  Result<ExplorationResult> explore(const adapters::SystemUnderTest& system,
                                    std::span<const workload::Operation> operations,
                                    const ExplorationOptions& options,
                                    const std::filesystem::path& recording);

  /// Checks one state in a recording that explore() or record_run() made of these operations.
  /// `recorded` is that run, or a repetition of it.
  Result<ExploredState> check(const adapters::SystemUnderTest& system,
                              std::span<const workload::Operation> operations,
                              const RecordedRun& recorded, const std::filesystem::path& recording,
                              const std::string& state);

 private:
  Result<void> damage(const ExplorationOptions& options, ExplorationResult& result);

  const FormattedDisk& formatted_;
  StateDisk disk_;
  std::unique_ptr<adapters::ImageChecker> fsck_;
  std::unique_ptr<RememberedChecks> remembered_;  ///< null for a small disk
  std::unique_ptr<adapters::ImageAudit> audit_;   ///< null if the type has no audit
};

}  // namespace headcrash::in_process
