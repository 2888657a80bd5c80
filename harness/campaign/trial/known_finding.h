#pragma once
// Searches for a known finding in an exploration of the same workload, for example under another
// kernel.

#include <set>
#include <string>
#include <utility>

#include "harness/oracle/verdict.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// A finding as stored in a database.
struct KnownFinding {
  std::string verdict;  ///< the state's verdict
  /// Kind and tier of the findings in its tree; empty if the tree was not judged.
  std::set<std::pair<std::string, std::string>> what = {};
};

/// The result of the search. `verdict` is the state's verdict if the finding recurred and was
/// confirmed, `clean` if no state has it (whatever else fails), or `harness_error` if unknown: it
/// was seen only once, states could not be checked, or there were no states.
struct SoughtFinding {
  oracle::Judgement judgement;
  /// The first state that has the finding, in the given trial.
  const db::CrashStateRecord* state = nullptr;
};
SoughtFinding find_again(const KnownFinding& known, const db::TrialRecord& trial);

}  // namespace headcrash::campaign
