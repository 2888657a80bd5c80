#pragma once
// Explores all crash states of one workload under one scheme, in this process and without guests.
//
//   record_run -> StateEnumerator -> OrderRules -> StateDisk -> StateChecker -> next state
//
// States that the driver's rules forbid are counted but not checked. Other states are checked
// incrementally (check_state.h). Every failure, and a share of the states that is selected by
// digest, are also checked in full.
//
// Some states are checked first, regardless of the strategies: the states at cuts where the file
// system had nothing pending (record_run.h), in which fsck may find only wrong totals; and, in a
// run with faults, the states at the cuts where an error is most likely to show. The strategies
// then start at the first failure.
//
// Each of these cases ends the exploration with an error:
//
//   a full check gives another outcome than the incremental check
//   the audit of a repair by fsck (FileSystemType::audit) fails; on large disks, repairs are
//       audited only after full checks
//   with ExplorationOptions::damage, a repair of a damaged image (FileSystemType::repair_trials) is
//       wrong; the images are made from the one after the unmount at the end of the run
//
// Use one DiskExplorer per thread: it owns the flat image, and only this thread may use its data.

#include <atomic>
#include <functional>

#include "harness/explorer/in_process/check_state.h"
#include "harness/explorer/in_process/record_run.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::in_process {

/// Options for damaging images on purpose. The images are copies of the image after a clean
/// unmount.
struct DamageOptions {
  /// Seed of the first image; the seed increases by 1 for each further image.
  std::uint64_t seed = 1;
  std::uint64_t images = 12;
};

struct ExplorationOptions {
  std::vector<states::Strategy> strategies{states::Strategy::lose_all, states::Strategy::prefix,
                                           states::Strategy::reorder, states::Strategy::torn};
  /// Maximum number of distinct states, including those that the driver's rules forbid.
  std::uint64_t budget = 1000;
  std::uint64_t reorder_per_cut = 16;
  RunOptions run;
  /// Explores only cuts at which the operation with this number was already persistent. Callers use
  /// this to exclude the set-up of a workload.
  std::uint64_t from_operation = 0;
  /// Number of failures to store in full; further failures are only counted.
  std::size_t failures_kept = 20;
  /// One in `verify_one_in` states without a failure is also checked in full; with 1, all of them
  /// are. For states whose outcome was remembered (StateOutcome::remembered),
  /// `verify_remembered_one_in` applies instead.
  std::uint64_t verify_one_in = 20, verify_remembered_one_in = 200;
  std::optional<DamageOptions> damage = {};  ///< requires RunOptions::unmount
  const std::atomic<bool>* interrupted = nullptr;
  oracle::TreeJudge judge = {};  ///< if set, replaces the oracle as the judge of trees
  /// Called once for each checked state.
  std::function<void(const states::FoundState&, const StateOutcome&)> on_state = {};
  /// If not null, set to true if headcrash contradicts itself: if two results of one checker, two
  /// runs, or two parts of headcrash disagree. The exploration then fails. Other errors, such as
  /// those of the host, leave the flag unchanged.
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
  /// How the second run differs from the first. If not empty, the failure is not confirmed.
  std::string disagreement;
  /// The failing state with the fewest lost writes; empty if no search was made.
  std::string minimised_state;
};

struct StrategyCoverage {
  states::Coverage found;
  /// Number of distinct states that were checked, and number of distinct states that the driver's
  /// rules forbid. If the exploration was interrupted, some states may be missing from both.
  std::uint64_t checked = 0, forbidden = 0;
};

struct ExplorationResult {
  RecordedRun run;
  std::vector<StrategyCoverage> coverage;
  std::uint64_t generated = 0;  ///< distinct states
  /// Number of generated states that were not checked, because the driver's rules forbid them.
  std::uint64_t forbidden = 0;
  std::uint64_t checked = 0, clean = 0;
  std::uint64_t verified = 0;  ///< states whose incremental check was repeated in full
  /// Number of states whose outcome was taken from an earlier, equal state.
  std::uint64_t remembered = 0;
  /// Number of additional states, one for each cut in RecordedRun::settled.
  std::uint64_t settled = 0;
  /// Number of additional states, at the cuts where the effect of a fault is most likely to show.
  std::uint64_t informative = 0;
  /// For each kind of finding, the number of states in which the first check reported it.
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

  /// Explores a workload. `system` must be of the type with which the disk was formatted. Replaces
  /// `recording`. Fails if record_run() fails or if the oracle cannot follow the list.
  Result<ExplorationResult> explore(const adapters::SystemUnderTest& system,
                                    std::span<const workload::Operation> operations,
                                    const ExplorationOptions& options,
                                    const std::filesystem::path& recording);

  /// Checks one state of a recording of these operations. explore() or record_run() must have made
  /// the recording. `recorded` is the result of that call or of an identical one.
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
  std::unique_ptr<adapters::ImageAudit> audit_;   ///< null if the file system's type has no audit
};

}  // namespace headcrash::in_process
