// Implements delta debugging for lost writes and for operations (minimise.h).
#include "harness/explorer/reproduce/minimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/explorer/explain/lost_writes.h"
#include "harness/workload/draft.h"

namespace headcrash::explorer {
namespace {

using base::Chosen;
using base::DeltaDebugging;

std::vector<MissingWrite> missing_in(const states::CrashState& state,
                                     std::span<const model::RequestId> unflushed) {
  std::vector<MissingWrite> missing;
  for (const model::RequestId request : unflushed)
    if (const auto each = missing_write(state, request)) missing.push_back(*each);
  return missing;
}

/// Returns the state that lacks the writes in `missing`. A state's name has a limited length, so it
/// lists either the lost writes or the kept ones, whichever are fewer.
states::CrashState with_missing(const states::CrashState& like,
                                std::span<const model::RequestId> unflushed,
                                const std::vector<MissingWrite>& missing) {
  states::CrashState state = like;
  state.torn.clear();
  std::vector<model::RequestId> lost, kept;
  auto next = missing.begin();
  for (const model::RequestId request : unflushed) {
    if (next == missing.end() || next->request != request) {
      kept.push_back(request);
      continue;
    }
    if (next->torn) {
      state.torn.push_back(*next->torn);
    } else {
      lost.push_back(request);
    }
    ++next;
  }
  state.keep_others = lost.size() <= kept.size();
  state.listed = state.keep_others ? std::move(lost) : std::move(kept);
  return state;
}

}  // namespace

bool stronger(oracle::Tier one, oracle::Tier other) {
  // Indexed by tier: posix, documented, de-facto, integrity, litmus.
  constexpr std::array<int, 5> kStrength{2, 1, 0, 3, 0};
  return kStrength.at(static_cast<std::size_t>(one)) >
         kStrength.at(static_cast<std::size_t>(other));
}

FailureKind kind_of(const oracle::Judgement& judgement,
                    const std::vector<oracle::Finding>& findings) {
  FailureKind kind{.verdict = judgement.verdict};
  for (const oracle::Finding& finding : findings) {
    if (finding.kind != kind.verdict) continue;
    if (!kind.tier || stronger(finding.tier, *kind.tier)) kind.tier = finding.tier;
  }
  return kind;
}

bool fails_like(const FailureKind& kind, const oracle::Judgement& judgement,
                const std::vector<oracle::Finding>& findings) {
  if (!kind.tier) return judgement.verdict == kind.verdict;
  return std::any_of(findings.begin(), findings.end(), [&](const oracle::Finding& finding) {
    return finding.kind == kind.verdict && finding.tier == *kind.tier;
  });
}

std::string format(const FailureKind& kind) {
  const std::string verdict(oracle::name(kind.verdict));
  return kind.tier ? fmt::format("{} ({})", verdict, oracle::name(*kind.tier)) : verdict;
}

MinimisedState minimise_state(const states::CrashState& failing,
                              std::span<const model::RequestId> unflushed,
                              const StateExaminer& still_fails, const MinimiseLimits& limits) {
  if (failing.base != states::CrashState::Base::writes) return {.state = failing};
  const std::vector<MissingWrite> all = missing_in(failing, unflushed);
  const auto state_of = [&](const Chosen& chosen) {
    std::vector<MissingWrite> missing;
    for (const std::size_t i : chosen) missing.push_back(all[i]);
    return with_missing(failing, unflushed, missing);
  };
  DeltaDebugging search(
      {.usable = [](const Chosen& chosen) { return chosen; },
       .still_fails = [&](const Chosen& chosen) { return still_fails(state_of(chosen)); }},
      limits);
  const Chosen fewest = search.run(all.size());
  return {.state = fewest.size() == all.size() ? failing : state_of(fewest),
          .lost_before = all.size(),
          .lost = fewest.size(),
          .checks = search.checks(),
          .minimal = !search.stopped()};
}

MinimisedWorkload minimise_workload(std::span<const workload::Operation> failing,
                                    const WorkloadExaminer& still_fails,
                                    const MinimiseLimits& limits) {
  MinimisedWorkload result{.operations = {failing.begin(), failing.end()}};
  const auto usable = [&](const Chosen& chosen) {
    workload::Draft draft;
    Chosen used;
    for (const std::size_t i : chosen) {
      if (draft.try_add(failing[i])) used.push_back(i);
    }
    return used;
  };
  const auto still_fails_with = [&](const Chosen& chosen) {
    workload::Draft draft;
    for (const std::size_t i : chosen) draft.add(failing[i]);
    if (chosen.empty() || !still_fails(draft.operations())) return false;
    result.operations = draft.take();
    return true;
  };
  DeltaDebugging search({.usable = usable, .still_fails = still_fails_with}, limits);
  search.run(failing.size());
  result.checks = search.checks();
  result.minimal = !search.stopped();
  return result;
}

}  // namespace headcrash::explorer
