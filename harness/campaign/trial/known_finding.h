#pragma once
// Known findings and known failures in the results of explored trials. find_again() searches an
// exploration of the same workload for a finding, for example to see whether it also occurs under
// another kernel. explained_by() decides whether a trial's failures have known causes.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/campaign/exploration_file.h"
#include "harness/oracle/verdict.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// A finding as stored in a database.
struct KnownFinding {
  std::string verdict;  ///< verdict of the state that has the finding
  /// The kind and the tier of each finding in the tree; empty if the tree was not judged.
  std::set<std::pair<std::string, std::string>> what = {};
};

/// The result of the search. The verdict is `clean` if no state has the finding, even if states
/// failed for other reasons. If the finding recurred and was confirmed, the verdict is that of the
/// state that has it. The verdict is `harness_error` if the result is unknown, because the finding
/// was not confirmed, some states could not be checked, or there were no states.
struct SoughtFinding {
  oracle::Judgement judgement;
  /// The first state of the trial that has the finding, or null. Points into the trial.
  const db::CrashStateRecord* state = nullptr;
};
SoughtFinding find_again(const KnownFinding& known, const db::TrialRecord& trial);

/// Returns the findings that explain all failures of the trial, separated by ", ". A known failure
/// explains its broken rule and, if that rule is broken in this trial, states with its verdicts.
/// Returns an empty string if the trial has no failure, or one that is not explained.
std::string explained_by(const std::vector<KnownFailure>& known, const db::TrialRecord& trial);

}  // namespace headcrash::campaign
