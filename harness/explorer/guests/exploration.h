#pragma once
// All states of one recorded workload, checked by several guests side by side, failures confirmed.
//
//   Explorer --next()--> one thread a guest: check --> a failure? again on a fresh guest, wholly in the guest
//                                                  --> drawn?     again wholly in the guest, must agree
//   recovery strategy: of some states that had to replay, the recovery is recorded; its states
//   follow
//
// A thread that restores a guest takes it with it when it ends (vm/guest.h); StageGuest::load
// notices and restores.

#include <atomic>
#include <functional>

#include "harness/explorer/guests/check_state.h"

namespace headcrash::explorer {

struct ExplorationOptions {
  states::ExploreOptions
      explore;  ///< from_event and to_event: as the workload has them, when not given
  double in_guest_share = 0.05;         ///< of states that are checked wholly in the guest as well
  std::size_t failures_confirmed = 20;  ///< of one kind of finding; more are counted, not confirmed
  bool stop_at_first = false;           ///< the first confirmed failure ends it
  std::chrono::seconds limit{0};        ///< begins no state after this time; 0: no limit
  std::size_t recoveries = 6;           ///< recorded at most by the strategy `recovery`
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const StateOutcome&)> on_state;  ///< called from one thread at a time
};

/// A failure that was seen again on a fresh guest, wholly in the guest, or was not (then it is not
/// a failure of the file system but of the lab, and said to be so).
struct ConfirmedFailure {
  StateOutcome outcome;
  bool confirmed = false;
  std::string
      /// what differed the second time; of a confirmed one: it failed in another way
      disagreement;
};

struct ExplorationResult {
  std::vector<states::Coverage> coverage;
  std::uint64_t checked = 0, clean = 0;  ///< clean: or replayed
  std::vector<StateOutcome> outcomes;    ///< of those that are not clean or replayed
  std::vector<ConfirmedFailure> failures;
  std::uint64_t unconfirmed = 0;    ///< failures beyond failures_confirmed of their kind
  std::uint64_t sampled = 0;        ///< checked wholly in the guest as well ...
  std::uint64_t disagreements = 0;  ///< ... with another outcome
  std::array<double, kStepKinds> step_ms = {};  ///< sums over `checked`
  double wall_ms = 0, generate_ms = 0;
  std::size_t restores = 0;  ///< guests used
  bool out_of_time = false;  ///< `limit` was reached
  bool judged = true;        ///< false: no operations, no oracle
};

/// One thread for each guest. Errors: a recording that cannot be explored in the ways asked for.
Result<ExplorationResult> explore(const std::vector<StageGuest*>& guests,
                                  const adapters::LinuxAdapter& filesystem,
                                  const RecordedWorkload& workload,
                                  const ExplorationOptions& options);

}  // namespace headcrash::explorer
