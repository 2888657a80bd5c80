#pragma once
// One crash state through check, repair, second check, tree and oracle, all in memory.
//
//   show -> check only: is what it finds what the scheme may leave?
//        -> repair     -> second check: nothing left
//        -> tree       -> oracle: synced data is there, nothing that may not be
//
// A scheme may leave residue for fsck to clear (fs-adapters/ufs/scheme_variants.h); the verdict is then
// `clean`, and says what fsck found. Whatever is worse is `repaired-by-fsck` at best.

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fs-adapters/ufs/fsck.h"
#include "fs-adapters/ufs/scheme_variants.h"
#include "harness/crash/oracle.h"
#include "harness/crash/verdict.h"
#include "harness/lab/in_process/observed_image.h"
#include "harness/lab/in_process/state_disk.h"

namespace headcrash::in_process {

enum class StepKind : std::uint8_t { generate, rules, show, check, repair, second_check, tree, judge };
inline constexpr std::size_t kStepKinds = 8;
std::string_view name(StepKind step);
using StepTimes = std::array<double, kStepKinds>;  ///< ms

struct StateOutcome {
  crash::Judgement judgement;
  std::vector<crash::Finding> findings;             ///< the oracle's, and of fsck what is not permitted
  std::map<ufs::FindingKind, std::uint32_t> found;  ///< by the first check
  std::size_t names_of_exchanges = 0;  ///< left behind, and permitted (fs-adapters/ufs/scheme_variants.h)
  std::optional<std::size_t> persisted;
};

/// True for what the scheme's rules promise: nothing worse than its residue, all that was synced.
inline bool keeps_rules(const StateOutcome& outcome) {
  return crash::keeps_promises(outcome.judgement.verdict);
}

class StateChecker {
 public:
  /// After the disk's begin_run(). All must outlive it. Errors: operations that the oracle cannot follow.
  static Result<StateChecker> create(const ufs::SchemeVariant& scheme, StateDisk& disk, ufs::Fsck& fsck,
                                     std::span<const workload::Operation> operations,
                                     const std::vector<workload::Mishap>& mishaps);

  /// What the disk shows now. It is changed by the repair.
  StateOutcome check(std::optional<std::size_t> persisted, StepTimes& times);

 private:
  StateChecker(const ufs::SchemeVariant& scheme, StateDisk& disk, ufs::Fsck& fsck, crash::Oracle oracle)
      : scheme_(&scheme), disk_(&disk), fsck_(&fsck), oracle_(std::move(oracle)), observer_(disk) {}
  const std::vector<crash::Finding>& judge(std::optional<std::size_t> persisted,
                                           const std::vector<crash::ObservedObject>& tree);

  const ufs::SchemeVariant* scheme_;
  StateDisk* disk_;
  ufs::Fsck* fsck_;
  crash::Oracle oracle_;
  Observer observer_;
  std::unordered_map<std::string, std::vector<crash::Finding>> judged_;  ///< by horizon and tree
};

}  // namespace headcrash::in_process
