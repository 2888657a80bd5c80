// Finds the explored states to which a known finding applies (known_finding.h).
#include "harness/campaign/trial/known_finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace headcrash::campaign {
namespace {

using oracle::Verdict;

Verdict verdict_of(const db::CrashStateRecord& state) {
  return oracle::verdict_named(state.verdict);
}

/// Returns true if the state has the known finding. If no tree was judged when the finding was
/// made, compares the verdicts instead.
bool has(const db::CrashStateRecord& state, const KnownFinding& known) {
  if (known.what.empty()) return state.verdict == known.verdict;
  return std::ranges::any_of(state.findings, [&](const db::FindingRecord& each) {
    return known.what.contains({each.kind, each.tier});
  });
}

/// Returns true if the stack broke the rule in the trial.
bool broke(const db::TrialRecord& trial, const std::string& rule) {
  return std::ranges::any_of(trial.findings, [&](const db::FindingRecord& finding) {
    return finding.kind == oracle::name(Verdict::broken_rule) && finding.expected == rule;
  });
}

/// Returns true if the state failed before its tree could be judged, so that it is unknown whether
/// the state has the finding.
bool hides_its_tree(const db::CrashStateRecord& state) {
  return state.findings.empty() && verdict_of(state) >= Verdict::not_repairable;
}

}  // namespace

SoughtFinding find_again(const KnownFinding& known, const db::TrialRecord& trial) {
  SoughtFinding sought;
  std::size_t with_it = 0, hidden = 0, others = 0;
  for (const db::CrashStateRecord& state : trial.states) {
    if (has(state, known)) {
      ++with_it;
      if (sought.state == nullptr && state.failure && state.failure->confirmed)
        sought.state = &state;
    } else if (hides_its_tree(state)) {
      ++hidden;
    } else if (!oracle::keeps_promises(verdict_of(state))) {
      ++others;
    }
  }
  const std::size_t all = trial.states.size();
  oracle::Judgement& judgement = sought.judgement;
  judgement.verdict = Verdict::harness_error;
  if (sought.state != nullptr) {
    judgement = {verdict_of(*sought.state),
                 fmt::format("the recorded finding recurred in {} of {} states", with_it, all)};
  } else if (all == 0) {
    judgement.summary = trial.summary;
  } else if (with_it > 0) {
    judgement.summary = fmt::format(
        "the recorded finding recurred in {} of {} states, but not on a fresh guest", with_it, all);
  } else if (hidden > 0) {
    judgement.summary = fmt::format("the trees of {} of {} states could not be read: {}", hidden,
                                    all, trial.summary);
  } else {
    judgement = {Verdict::clean,
                 fmt::format("the recorded finding recurred in none of {} states", all)};
    if (others > 0) judgement.summary += fmt::format("; {} of them failed in another way", others);
  }
  return sought;
}

std::string explained_by(const std::vector<KnownFailure>& known, const db::TrialRecord& trial) {
  std::set<std::string> verdicts;  // those that the known failures of this trial explain
  std::vector<std::string> findings;
  for (const KnownFailure& each : known) {
    if (!broke(trial, each.rule)) continue;
    verdicts.insert(each.verdicts.begin(), each.verdicts.end());
    if (std::ranges::find(findings, each.finding) == findings.end())
      findings.push_back(each.finding);
  }
  const auto is_known_rule = [&](const db::FindingRecord& finding) {
    return std::ranges::find(known, finding.expected, &KnownFailure::rule) != known.end();
  };
  const auto is_explained = [&](const db::CrashStateRecord& state) {
    return oracle::keeps_promises(verdict_of(state)) || verdicts.contains(state.verdict);
  };
  if (!std::ranges::all_of(trial.findings, is_known_rule) ||
      !std::ranges::all_of(trial.states, is_explained))
    return {};
  return fmt::format("{}", fmt::join(findings, ", "));
}

}  // namespace headcrash::campaign
