#pragma once
// Makes a failure small enough to be read: the fewest lost writes, then the fewest operations, that
// still fail in the same way.
//
// Both are delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
// input", 2002): leave out halves, then quarters, ... of what is left, keep whatever still fails,
// until nothing single can be left out any more.
//
//   lost  17 21 23 24 30 31 40 41      fails
//         17 21 23 24                  does not
//                     30 31 40 41      fails
//                     30 31            fails
//                     30               does not, nor does 31: minimal
//
// Whether something still fails is asked of an examiner, and so it needs no guest to be tested; the
// real ones are in failure_report.cc.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"
#include "plugin/states/crash_state.h"

namespace headcrash::explorer {

/// The way in which something fails: what a smaller one must still do.
struct FailureKind {
  oracle::Verdict verdict = oracle::Verdict::clean;
  std::optional<oracle::Tier>
      tier;  ///< the strongest among the findings of that kind; none without findings
  bool operator==(const FailureKind&) const = default;
};
FailureKind kind_of(const oracle::Judgement& judgement,
                    const std::vector<oracle::Finding>& findings);
/// A finding of the same kind and tier, or, where there was none, the same verdict.
bool fails_like(const FailureKind& kind, const oracle::Judgement& judgement,
                const std::vector<oracle::Finding>& findings);
/// "lost-synced-data (posix)"
std::string format(const FailureKind& kind);
/// True if breaking `one` is worse than breaking `other`: integrity, POSIX, documented, de-facto.
bool stronger(oracle::Tier one, oracle::Tier other);

struct MinimiseLimits {
  std::size_t checks = 200;           ///< questions to the examiner at most
  std::function<bool()> out_of_time;  ///< asked before each; may be empty
};

using StateExaminer = std::function<bool(const states::CrashState&)>;
struct MinimisedState {
  states::CrashState state;
  std::size_t lost_before = 0, lost = 0;  ///< writes that are lost or torn
  std::size_t checks = 0;
  bool minimal =
      false;  ///< every write that is still lost or torn is needed; false: the limits came first
};
/// Fewer lost or torn writes of the same recording. `unflushed`: the requests that no completed
/// flush covers at the cut (RunHistory::unflushed_at), ascending. A state that is not of base
/// `writes` comes back as it is.
MinimisedState minimise_state(const states::CrashState& failing,
                              std::span<const model::RequestId> unflushed,
                              const StateExaminer& still_fails, const MinimiseLimits& limits);

using WorkloadExaminer = std::function<bool(const std::vector<workload::Operation>&)>;
struct MinimisedWorkload {
  std::vector<workload::Operation> operations;
  std::size_t checks = 0;
  bool minimal = false;
};
/// Fewer operations. What is asked about can always be executed: an operation whose file or name
/// went goes too, appends land where the file ends, and stamps are renumbered
/// (harness/workload/draft.h).
MinimisedWorkload minimise_workload(std::span<const workload::Operation> failing,
                                    const WorkloadExaminer& still_fails,
                                    const MinimiseLimits& limits);

}  // namespace headcrash::explorer
