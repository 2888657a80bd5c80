#pragma once
// A finding that is known, looked for in an exploration of the same workload: under another kernel,
// for example.

#include <set>
#include <string>
#include <utility>

#include "harness/oracle/verdict.h"
#include "results/db/database.h"

namespace headcrash::campaign {

/// As a database has it.
struct KnownFinding {
  std::string verdict;  ///< of the state
  /// Kind and tier of what is wrong with its tree; none: the tree was not judged.
  std::set<std::pair<std::string, std::string>> what = {};
};

/// `verdict`: the state's if it is there again, seen twice; `clean` if it is in no state, whatever
/// else is; `harness_error` if nobody can tell: it was seen once, states could not be looked at, or
/// there were none.
struct SoughtFinding {
  oracle::Judgement judgement;
  const db::CrashStateRecord* state =
      nullptr;  ///< the first that has it, of the trial that was given
};
SoughtFinding look_for(const KnownFinding& known, const db::TrialRecord& trial);

}  // namespace headcrash::campaign
