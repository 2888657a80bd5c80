#pragma once
// headcrash replay --anew: repeats an explored trial from mkfs on, and searches for the recorded
// finding.

#include <string>
#include <vector>

#include "harness/cli/stored_trial.h"
#include "harness/oracle/verdict.h"

namespace headcrash::cli {

/// An outcome, recorded or repeated.
struct Replayed {
  std::string what;  ///< state or key
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string log;
};

/// Repeats the same list of operations from the same seed under the trial's file system and kernel,
/// and explores all crash states. The verdict is that of campaign::find_again(). Fails if it cannot
/// be tested.
Result<Replayed> replay_anew(const StoredTrial& trial);

}  // namespace headcrash::cli
