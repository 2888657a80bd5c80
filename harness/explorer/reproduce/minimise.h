#pragma once
// Minimises a failure: finds the fewest lost writes that still cause the same failure, then the
// fewest operations.
//
// Both searches use delta debugging (plugin/base/delta_debugging.h):
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

/// The kind of a failure. A smaller failure replaces the original one only if both have the same
/// kind.
struct FailureKind {
  oracle::Verdict verdict = oracle::Verdict::clean;
  /// The strongest tier of the findings that have this verdict; nullopt without such findings.
  std::optional<oracle::Tier> tier;
  bool operator==(const FailureKind&) const = default;
};
FailureKind kind_of(const oracle::Judgement& judgement,
                    const std::vector<oracle::Finding>& findings);
/// Returns true if a finding has the verdict and tier of `kind`. If `kind` has no tier, compares
/// only the verdicts.
bool fails_like(const FailureKind& kind, const oracle::Judgement& judgement,
                const std::vector<oracle::Finding>& findings);
/// Returns text such as "lost-synced-data (posix)".
std::string format(const FailureKind& kind);
/// Returns true if a violation of `one` is more severe than a violation of `other`. In decreasing
/// severity, the tiers are integrity, POSIX, documented and de-facto.
bool stronger(oracle::Tier one, oracle::Tier other);

using MinimiseLimits = base::DeltaDebugging::Limits;

using StateExaminer = std::function<bool(const states::CrashState&)>;
struct MinimisedState {
  states::CrashState state;
  /// Number of writes that are lost or torn, before and after minimising.
  std::size_t lost_before = 0, lost = 0;
  std::size_t checks = 0;
  /// True if the failure needs every write that is still lost: with any one of them restored, the
  /// failure does not occur. False if a limit was reached before this was known.
  bool minimal = false;
};
/// Searches for a state of the same recording that fails with fewer lost or torn writes.
/// `unflushed` lists the requests that were not covered by a completed flush at the cut
/// (RunHistory::unflushed_at), in ascending order. If the base of `failing` is not `writes`,
/// returns `failing` unchanged.
MinimisedState minimise_state(const states::CrashState& failing,
                              std::span<const model::RequestId> unflushed,
                              const StateExaminer& still_fails, const MinimiseLimits& limits);

using WorkloadExaminer = std::function<bool(const std::vector<workload::Operation>&)>;
struct MinimisedWorkload {
  std::vector<workload::Operation> operations;
  std::size_t checks = 0;
  bool minimal = false;
};
/// Searches for a shorter list of operations that still fails. All lists that are tried can be
/// executed: operations on missing files or names are omitted, appends start at the end of the
/// file, and stamps are renumbered (harness/workload/draft.h).
MinimisedWorkload minimise_workload(std::span<const workload::Operation> failing,
                                    const WorkloadExaminer& still_fails,
                                    const MinimiseLimits& limits);

}  // namespace headcrash::explorer
