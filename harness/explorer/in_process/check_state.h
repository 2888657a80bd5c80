#pragma once
// One crash state through check, repair, second check, tree and oracle, all in memory.
//
//   show -> check only: is what it finds what the scheme may leave?
//        -> repair     -> second check: nothing left
//        -> tree       -> oracle: synced data is there, nothing that may not be
//
// A system may leave residue for fsck to clear (SystemUnderTest::may_leave); the verdict is then
// `clean`, and says what fsck found. Where the system has another recovery
// (adapters::RecoveryTrial), that has to come out the same in every state. Whatever is worse is
// `repaired-by-fsck` at best, and so is any residue where the run had settled (record_run.h), and
// where the file system says that it is clean: who believes that runs no fsck. Where the run had
// settled, the disk has free what the file system itself counted as free.
//
// There are two ways through it. The plain one looks at everything: three times the whole image,
// the whole tree. The quick one believes that sectors with equal digests mean what they meant in
// the state before, and is several times as fast; who uses it has a share of the states and all
// that failed checked in full, too, and does not accept any difference (exploration.h).

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/explorer/in_process/observed_image.h"
#include "harness/explorer/in_process/persistence_points.h"
#include "harness/explorer/in_process/record_run.h"
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
  verify
};
inline constexpr std::size_t kStepKinds = 10;
std::string_view name(StepKind step);
using StepTimes = std::array<double, kStepKinds>;  ///< ms

struct StateOutcome {
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;  ///< the oracle's, and of fsck what is not permitted
  std::map<adapters::FindingKind, std::uint32_t> found;  ///< by the first check
  std::optional<std::size_t> persisted;
  bool was_clean = false;  ///< the disk says so
  /// Findings were left: FileSystemType::repairs_damage() is false.
  bool left_unrepaired = false;
};

/// True for what the scheme's rules promise: nothing worse than its residue, all that was synced.
inline bool keeps_rules(const StateOutcome& outcome) {
  return oracle::keeps_promises(outcome.judgement.verdict);
}

/// What one says and the other does not, in a line; empty: they say the same.
std::string difference(const StateOutcome& one, const StateOutcome& other);

enum class Way : std::uint8_t { plain, quick };

/// What is known about a state from its run.
struct StateFacts {
  std::optional<std::size_t> persisted;  ///< the last point that was reported before the cut
  /// Nothing was owed or under way: residue is a finding, and this is what the file system counted.
  std::optional<adapters::Counters> settled = {};
  Unmount unmount = Unmount::none;  ///< before the cut: what then says clean has to be clean
  std::uint64_t cut = 0;            ///< the event
  std::span<const KeptSnapshot> snapshots = {};  ///< of the run, which must outlive this
};
StateFacts facts_of(const RecordedRun& run, const PersistencePoints& points,
                    const states::CrashState& state);

class StateChecker {
 public:
  /// After the disk's begin_run(). All must outlive it. Errors: operations that the oracle cannot
  /// follow.
  static Result<StateChecker> create(
      const adapters::SystemUnderTest& system, StateDisk& disk, adapters::ImageChecker& fsck,
      std::span<const workload::Operation> operations,
      const std::vector<workload::FailedOperation>& failed_operations);

  /// What the disk shows now. It is changed by the repair.
  StateOutcome check(const StateFacts& facts, Way way, StepTimes& times);
  /// Of the system's other recovery, in all states so far; empty: it has none.
  adapters::Counters recovery_counts() const {
    return recovery_ ? recovery_->counts() : adapters::Counters();
  }

 private:
  /// Refers to its own parts: it stays where it is.
  struct Judging {
    Judging(const adapters::FileSystemType& type, const StateDisk& disk, oracle::Oracle its_oracle)
        : oracle(std::move(its_oracle)),
          observer(type, disk, oracle.judged()),
          judge(oracle),
          tree(disk, observer, judge) {}
    oracle::Oracle oracle;
    Observer observer;
    oracle::RepeatedJudge judge;
    TreeCache tree;
  };
  StateChecker(const adapters::SystemUnderTest& system, StateDisk& disk,
               adapters::ImageChecker& fsck, oracle::Oracle oracle)
      : system_(&system),
        disk_(&disk),
        fsck_(&fsck),
        recovery_(system.recovery_trial()),
        judging_(std::make_unique<Judging>(system.type(), disk, std::move(oracle))) {}
  Result<std::vector<oracle::Finding>> judge_tree(std::optional<std::size_t> persisted, Way way,
                                                  StepTimes& times);
  void judge_findings(const adapters::CheckReport& first, const StateFacts& facts,
                      StateOutcome& outcome) const;

  const adapters::SystemUnderTest* system_;
  StateDisk* disk_;
  adapters::ImageChecker* fsck_;
  std::unique_ptr<adapters::RecoveryTrial> recovery_;  ///< null: the system has none
  std::unique_ptr<Judging> judging_;
};

}  // namespace headcrash::in_process
