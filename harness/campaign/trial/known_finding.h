#pragma once
// Searches an exploration of the same workload for a known finding, for example to see whether it
// also occurs under another kernel.

#include <set>
#include <string>
#include <utility>

#include "harness/oracle/verdict.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// A finding as stored in a database.
struct KnownFinding {
  std::string verdict;  ///< verdict of the state that has the finding
  /// Kind and tier of each finding in the tree; empty if the tree was not judged.
  std::set<std::pair<std::string, std::string>> what = {};
};

/// The result of the search. Its verdict is that of the state if the finding recurred and was
/// confirmed, and `clean` if no state has it, whatever else failed. It is `harness_error` if the
/// result is unknown: the finding was not confirmed, some states could not be checked, or there
/// were no states.
struct SoughtFinding {
  oracle::Judgement judgement;
  /// The first state of the trial that has the finding, or null. Points into the trial.
  const db::CrashStateRecord* state = nullptr;
};
SoughtFinding find_again(const KnownFinding& known, const db::TrialRecord& trial);

}  // namespace headcrash::campaign
