#pragma once
// Minimises a failure: finds the fewest lost writes, then the fewest operations, that still fail in
// the same way.
//
// Both use delta debugging (plugin/base/delta_debugging.h).
//
//   lost  17 21 23 24 30 31 40 41      fails
//         17 21 23 24                  does not
//                     30 31 40 41      fails
//                     30 31            fails
//                     30               does not, nor does 31: minimal
//
// The caller supplies a function that decides whether a set still fails, so tests need no guest.
// failure_report.cc supplies functions that use guests.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"
#include "plugin/base/delta_debugging.h"
#include "plugin/states/crash_state.h"

namespace headcrash::explorer {

/// The kind of a failure. A smaller failure must have the same kind.
struct FailureKind {
  oracle::Verdict verdict = oracle::Verdict::clean;
  /// The strongest tier among the findings with that verdict; nullopt if there are no findings.
  std::optional<oracle::Tier> tier;
  bool operator==(const FailureKind&) const = default;
};
FailureKind kind_of(const oracle::Judgement& judgement,
                    const std::vector<oracle::Finding>& findings);
/// Returns true if a finding has the verdict and tier of `kind`. If `kind` has no tier, returns
/// true if the verdicts are equal.
bool fails_like(const FailureKind& kind, const oracle::Judgement& judgement,
                const std::vector<oracle::Finding>& findings);
/// Returns, for example, "lost-synced-data (posix)".
std::string format(const FailureKind& kind);
/// Returns true if it is worse to violate `one` than `other`. From strongest to weakest: integrity,
/// POSIX, documented, de-facto.
bool stronger(oracle::Tier one, oracle::Tier other);

using MinimiseLimits = base::DeltaDebugging::Limits;

using StateExaminer = std::function<bool(const states::CrashState&)>;
struct MinimisedState {
  states::CrashState state;
  /// Number of lost or torn writes before and after minimising.
  std::size_t lost_before = 0, lost = 0;
  std::size_t checks = 0;
  /// True if no further write can be restored; false if a limit was reached before that.
  bool minimal = false;
};
/// Searches for a state in the same recording that has fewer lost or torn writes and still fails.
/// `unflushed` lists, in ascending order, the requests that no completed flush covers at the cut
/// (RunHistory::unflushed_at). A state whose base is not `writes` is returned unchanged.
MinimisedState minimise_state(const states::CrashState& failing,
                              std::span<const model::RequestId> unflushed,
                              const StateExaminer& still_fails, const MinimiseLimits& limits);

using WorkloadExaminer = std::function<bool(const std::vector<workload::Operation>&)>;
struct MinimisedWorkload {
  std::vector<workload::Operation> operations;
  std::size_t checks = 0;
  bool minimal = false;
};
/// Searches for fewer operations that still fail. All examined lists are executable: operations on
/// missing files or names are omitted, appends start at the end of the file, and stamps are
/// renumbered (harness/workload/draft.h).
MinimisedWorkload minimise_workload(std::span<const workload::Operation> failing,
                                    const WorkloadExaminer& still_fails,
                                    const MinimiseLimits& limits);

}  // namespace headcrash::explorer
