#pragma once
// headcrash replay --anew: an explored trial once more from mkfs on, and whether the recorded
// finding is there again.

#include <string>
#include <vector>

#include "harness/cli/stored_trial.h"
#include "harness/oracle/verdict.h"

namespace headcrash::cli {

/// What came out, then or now.
struct Replayed {
  std::string what;  ///< state or key
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string log;
};

/// The same list of operations from the same seed, recorded under the trial's file system and
/// kernel, and all of its crash states; the verdict is that of campaign::look_for(). Errors: what
/// keeps it from being tested.
Result<Replayed> replay_anew(const StoredTrial& trial);

}  // namespace headcrash::cli
