#pragma once
// All states of one recorded workload, checked by several guests side by side, failures confirmed.

#include <atomic>
#include <functional>

#include "harness/lab/check_state.h"

namespace headcrash::lab {

struct ExplorationOptions {
  states::ExploreOptions explore;
  double in_guest_share = 0.05;         ///< of states that are checked wholly in the guest as well
  std::size_t failures_confirmed = 20;  ///< of one kind of finding; more are counted, not confirmed
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const StateOutcome&)> on_state;  ///< called from one thread at a time
};

/// A failure that was seen again on a fresh guest, wholly in the guest, or was not (then it is no failure of
/// the file system but of the lab, and said to be so).
struct ConfirmedFailure {
  StateOutcome outcome;
  bool confirmed = false;
  std::string disagreement;  ///< not confirmed: what differed
};

struct ExplorationResult {
  std::vector<states::Coverage> coverage;
  std::uint64_t checked = 0, clean = 0;
  std::vector<StateOutcome> outcomes;  ///< of those that are not clean or replayed
  std::vector<ConfirmedFailure> failures;
  std::array<double, kStepKinds> step_ms = {};  ///< sums
  double wall_ms = 0, generate_ms = 0;
};

/// One thread for each guest.
Result<ExplorationResult> explore(const std::vector<StageGuest*>& guests,
                                  const adapters::LinuxAdapter& filesystem, const RecordedWorkload& workload,
                                  const ExplorationOptions& options);

}  // namespace headcrash::lab
