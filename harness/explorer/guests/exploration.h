#pragma once
// Explores one recorded workload: several guests check its states concurrently, and failures are
// confirmed.
//
//   Explorer --next()--> one thread per guest: check --> failure?  again on a fresh guest, wholly
//                                                                  in the guest
//                                                    --> sampled?  again wholly in the guest, must
//                                                                  agree
//   strategy `recovery`: for some states that had to replay, the recovery is recorded and its
//   states are checked, too
//
// A guest dies with the thread that restored it (vm/guest.h); StageGuest::load detects this and
// restores a new one.

#include <atomic>
#include <functional>

#include "harness/explorer/guests/check_state.h"

namespace headcrash::explorer {

struct ExplorationOptions {
  states::ExploreOptions explore;  ///< from_event and to_event default to those of the workload
  double in_guest_share = 0.05;    ///< fraction of states that are also checked wholly in the guest
  std::size_t failures_confirmed = 20;  ///< per kind; further failures are only counted
  bool stop_at_first = false;           ///< stops at the first confirmed failure
  /// Starts no check after this time, and aborts those in progress; 0 for no limit. The check that
  /// confirms a failure may exceed it.
  std::chrono::seconds limit{0};
  /// Maximum number of recoveries that the strategy `recovery` records.
  std::size_t recoveries = 6;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const StateOutcome&)> on_state;  ///< calls are serialised
};

/// A failure, and the result of checking it again on a fresh guest, wholly in the guest. A failure
/// that does not recur is attributed to headcrash, not to the file system.
struct ConfirmedFailure {
  StateOutcome outcome;
  bool confirmed = false;
  /// How the two results differ. A confirmed failure may still differ in its kind.
  std::string disagreement;
};

struct ExplorationResult {
  std::vector<states::Coverage> coverage;
  std::uint64_t checked = 0, clean = 0;  ///< `clean` includes replayed states
  std::vector<StateOutcome> outcomes;    ///< of states that are neither clean nor replayed
  std::vector<ConfirmedFailure> failures;
  /// Failures that were only counted because failures_confirmed was reached.
  std::uint64_t unconfirmed = 0;
  std::uint64_t sampled = 0;                    ///< states also checked wholly in the guest
  std::uint64_t disagreements = 0;              ///< sampled states whose two outcomes differ
  std::array<double, kStepKinds> step_ms = {};  ///< sums over the checked states
  double wall_ms = 0, generate_ms = 0;
  std::size_t restores = 0;  ///< number of guests used
  bool out_of_time = false;  ///< `limit` was reached
  bool judged = true;        ///< false if there was no oracle because the operations are unknown
};

/// Explores with one thread per guest. Fails if these options do not fit the recording.
Result<ExplorationResult> explore(const std::vector<StageGuest*>& guests,
                                  const adapters::LinuxAdapter& filesystem,
                                  const RecordedWorkload& workload,
                                  const ExplorationOptions& options);

}  // namespace headcrash::explorer
