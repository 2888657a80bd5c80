#pragma once
// Explores one recorded workload: several guests check its states concurrently, and failures are
// confirmed.
//
//   Explorer --next()--> one thread per guest: check --> failure?  check again, wholly in a fresh
//                                                                  guest
//                                                    --> sampled?  check again, wholly in the
//                                                                  guest; must agree
//
// With the strategy `recovery`, the recovery of some states that needed a replay is recorded, and
// the states of these recordings are checked, too.
//
// A guest dies with the thread that restored it (vm/guest.h). StageGuest::load() detects this and
// restores a new guest.

#include <atomic>
#include <functional>

#include "harness/explorer/guests/check_state.h"

namespace headcrash::explorer {

struct ExplorationOptions {
  /// If from_event and to_event are not set, only the events of the workload are explored.
  states::ExploreOptions explore;
  /// Fraction of states that are checked a second time, wholly in the guest.
  double in_guest_share = 0.05;
  /// Maximum number of failures of each kind to confirm; further failures are only counted.
  std::size_t failures_confirmed = 20;
  bool stop_at_first = false;  ///< end the exploration at the first confirmed failure
  /// Time limit; 0 for no limit. When the limit is reached, checks in progress are aborted and no
  /// further check is started. Only a check that confirms a failure may take longer.
  std::chrono::seconds limit{0};
  /// Maximum number of recoveries that the strategy `recovery` records.
  std::size_t recoveries = 6;
  const std::atomic<bool>* interrupted = nullptr;
  /// Called for each outcome, never concurrently.
  std::function<void(const StateOutcome&)> on_state;
};

/// A failure, and whether it recurred in a second check on a fresh guest, wholly in the guest. A
/// failure that does not recur is attributed to headcrash, not to the file system.
struct ConfirmedFailure {
  StateOutcome outcome;
  bool confirmed = false;
  /// How the outcomes of the two checks differ. A confirmed failure may also have a difference,
  /// because the two checks may find failures of different kinds.
  std::string disagreement;
};

/// Returns the first confirmed failure, or null if no failure was confirmed.
const ConfirmedFailure* first_confirmed(const std::vector<ConfirmedFailure>& failures);

struct ExplorationResult {
  std::vector<states::Coverage> coverage;
  std::uint64_t checked = 0, clean = 0;  ///< `clean` also counts states that needed a replay
  /// Outcomes of the states that are neither clean nor replayed.
  std::vector<StateOutcome> outcomes;
  std::vector<ConfirmedFailure> failures;
  /// Number of failures that were not checked again, because failures_confirmed was reached.
  std::uint64_t unconfirmed = 0;
  /// Number of states that were also checked wholly in the guest.
  std::uint64_t sampled = 0;
  /// Number of `sampled` states whose two outcomes differ.
  std::uint64_t disagreements = 0;
  /// Duration of each step, summed over the checked states.
  std::array<double, kStepKinds> step_ms = {};
  double wall_ms = 0, generate_ms = 0;
  std::size_t restores = 0;  ///< number of guests used
  bool out_of_time = false;  ///< true if `limit` was reached
  /// False if the oracle could not judge, because the operations are unknown.
  bool judged = true;
};

/// Explores a workload, with one thread per guest. Fails if the options do not fit the recording.
Result<ExplorationResult> explore(const std::vector<StageGuest*>& guests,
                                  const adapters::LinuxAdapter& filesystem,
                                  const RecordedWorkload& workload,
                                  const ExplorationOptions& options);

}  // namespace headcrash::explorer
