#pragma once
// Checks one crash state in memory: check, repair, second check, tree and oracle.
//
//   show -> recover the log, only in a quick check that can remember this step
//        -> check only: are the findings permitted by the scheme?
//        -> repair     -> second check: must find nothing
//        -> tree       -> oracle: must contain all synced data and nothing forbidden
//
// A system may leave residue for fsck to clear (SystemUnderTest::may_leave). The verdict is then
// `clean`, and the outcome lists the findings of fsck. If fsck repairs other damage, the verdict is
// `repaired-by-fsck` or worse. Residue counts as damage if the run had settled (record_run.h), or
// if the file system claims to be clean, because fsck would then not run.
//
// If the run had settled, the free space on the disk must also equal the file system's own count.
// If the system has an alternative recovery (adapters::RecoveryTrial), its result must equal that
// of fsck in every state.
//
// There are two modes (CheckMode). `plain` reads everything: the whole image three times, and the
// whole tree. `quick` assumes that sectors with equal digests have the same meaning as in earlier
// states, and skips the steps whose outcome is known for these sectors (remembered_step.h). It is
// several times as fast. Callers of `quick` must also check all failures and a share of the states
// with `plain`, and must treat any difference as an error (exploration.h).

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/later_life.h"
#include "harness/explorer/in_process/observed_image.h"
#include "harness/explorer/in_process/persistence_points.h"
#include "harness/explorer/in_process/record_run.h"
#include "harness/explorer/in_process/remembered_checks.h"
#include "harness/explorer/in_process/state_disk.h"
#include "harness/explorer/in_process/tree_cache.h"
#include "harness/oracle/oracle.h"
#include "harness/oracle/verdict.h"

namespace headcrash::in_process {

enum class StepKind : std::uint8_t {
  generate,
  rules,
  show,
  check,
  repair,
  other_recovery,
  second_check,
  tree,
  judge,
  later_life,
  verify
};
inline constexpr std::size_t kStepKinds = 11;
std::string_view name(StepKind step);
using StepTimes = std::array<double, kStepKinds>;  ///< ms

struct StateOutcome {
  oracle::Judgement judgement;
  /// The oracle's findings, and those findings of fsck that the scheme does not permit.
  std::vector<oracle::Finding> findings;
  /// Number of findings of each kind in the first check.
  std::map<adapters::FindingKind, std::uint32_t> found;
  std::optional<std::size_t> persisted;
  bool was_clean = false;  ///< the superblock says that the file system was unmounted cleanly
  /// True if the first check had findings, but the file system's type has no repair
  /// (FileSystemType::repairs_damage() is false).
  bool left_unrepaired = false;
  /// True if the outcomes of all steps were known from equal states, so that no step was run.
  /// Ignored when outcomes are compared.
  bool remembered = false;
};

/// Returns true if the state obeys the rules of the scheme: fsck found only permitted residue, and
/// all synced data was found.
inline bool keeps_rules(const StateOutcome& outcome) {
  return oracle::keeps_promises(outcome.judgement.verdict);
}

/// Returns the first difference as one line, or an empty string if the outcomes agree.
std::string difference(const StateOutcome& one, const StateOutcome& other);

enum class CheckMode : std::uint8_t { plain, quick };

/// Facts about the run to which a state belongs.
struct StateFacts {
  std::optional<std::size_t> persisted;  ///< the last persistence point reported before the cut
  /// The file system's own counts at the cut. Set only if no change was pending or in flight at
  /// that time. If set, fsck must not find any residue.
  std::optional<adapters::Counters> settled = {};
  /// Result of an unmount before the cut. If the disk claims to be clean after the unmount, fsck
  /// must find nothing.
  Unmount unmount = Unmount::none;
  std::uint64_t cut = 0;                         ///< event number
  std::span<const KeptSnapshot> snapshots = {};  ///< the run's snapshots; must outlive this object
  /// Set if the later life of this state is also to be judged (later_life.h).
  std::optional<states::CrashState> lives_on = {};
  /// True if a repair was interrupted. fsck may then find any damage that it can repair.
  bool any_residue = false;
};
/// Returns the facts about a state. Sets `lives_on` for about one in several hundred states.
StateFacts facts_of(const RecordedRun& run, const PersistencePoints& points,
                    const states::CrashState& state);

class StateChecker {
 public:
  /// Creates a checker. Must be called after StateDisk::begin_run(). All arguments must outlive the
  /// checker. If `operations` is nullopt, only the structure is judged. Fails if the oracle cannot
  /// follow the operations. `remembered` holds the outcomes of earlier checks of this disk by
  /// `fsck`; if it is null, nothing is remembered. If `judge` is set, it judges trees instead of
  /// the oracle.
  static Result<StateChecker> create(
      const adapters::SystemUnderTest& system, StateDisk& disk, adapters::ImageChecker& fsck,
      std::optional<std::span<const workload::Operation>> operations,
      const std::vector<workload::FailedOperation>& failed_operations,
      RememberedChecks* remembered = nullptr, oracle::TreeJudge judge = {});

  /// Checks the state that the disk currently shows. Changes the disk if a repair is needed.
  StateOutcome check(const StateFacts& facts, CheckMode mode, StepTimes& times);
  /// If StateFacts::lives_on is set and `outcome` broke no rule, mounts the recovered disk, uses it
  /// and judges the result (later_life.h). Changes the disk.
  void judge_later_life(const StateFacts& facts, StateOutcome& outcome);
  /// Returns the counters of the system's alternative recovery, summed over all states; empty if
  /// the system has none.
  adapters::Counters recovery_counts() const {
    return recovery_ ? recovery_->counts() : adapters::Counters();
  }

 private:
  /// Owns the oracle and the objects that use it. Must not be moved, because the members refer to
  /// each other.
  struct Judging {
    Judging(const adapters::FileSystemType& type, StateDisk& disk, oracle::Oracle its_oracle,
            oracle::TreeJudge its_replacement, bool remembers)
        : oracle(std::move(its_oracle)),
          replacement(std::move(its_replacement)),
          observer(type, disk, replacement ? kAllAspects : oracle.judged()),
          judge(oracle),
          tree(disk, observer, judge) {
      if (remembers && !replacement) remembered.emplace(disk);
    }
    static constexpr oracle::Aspects kAllAspects{
        .modes = true, .owners = true, .times = true, .allocation = true};
    oracle::Oracle oracle;
    oracle::TreeJudge replacement;  ///< if set, judges trees instead of the oracle
    Observer observer;
    oracle::RepeatedJudge judge;
    TreeCache tree;
    std::optional<RememberedStep<std::vector<oracle::Finding>>> remembered;
  };
  StateChecker(const adapters::SystemUnderTest& system, StateDisk& disk,
               adapters::ImageChecker& fsck, oracle::Oracle oracle, RememberedChecks* remembered,
               oracle::TreeJudge judge)
      : system_(&system),
        disk_(&disk),
        fsck_(&fsck),
        remembered_(remembered),
        recovery_(system.recovery_trial()),
        judging_(std::make_unique<Judging>(system.type(), disk, std::move(oracle), std::move(judge),
                                           remembered != nullptr)),
        later_life_(system, disk, fsck) {}
  struct Check {
    bool quick = false;
    bool all_known = true;  ///< the outcomes of all steps so far were taken from earlier states
  };
  /// Returns the fsck options for the next step of this check.
  adapters::CheckOptions options_of(const Check& check) const;
  /// In a quick check, recovers the log if the file system can do so separately. Returns the report
  /// of the recovery.
  Result<std::optional<adapters::CheckReport>> recover_log(Check& check);
  /// Runs the first fsck. The returned report is valid until the next call.
  Result<const adapters::CheckReport*> first_check(Check& check);
  Result<const adapters::CheckReport*> check_recovered(Check& check);
  Result<adapters::CheckReport> check_without_limit(const adapters::CheckOptions& options);
  Result<void> repair(Check& check);
  /// Runs fsck on the repaired disk. Returns a description of the remaining damage, or an empty
  /// string.
  std::string second_check(Check& check);
  Result<std::vector<oracle::Finding>> judge_tree(std::optional<std::size_t> persisted,
                                                  Check& check, StepTimes& times);
  void judge_findings(const adapters::CheckReport& first, const StateFacts& facts,
                      StateOutcome& outcome) const;

  const adapters::SystemUnderTest* system_;
  StateDisk* disk_;
  adapters::ImageChecker* fsck_;
  RememberedChecks* remembered_;  ///< null if nothing is remembered
  /// Report of the first check of a state. Not used if `remembered_` stores the whole report.
  adapters::CheckReport report_;
  /// Null if the system has no alternative recovery.
  std::unique_ptr<adapters::RecoveryTrial> recovery_;
  std::unique_ptr<Judging> judging_;
  LaterLife later_life_;
};

}  // namespace headcrash::in_process
