#pragma once
// Implements `headcrash replay --anew`, which repeats an explored trial from mkfs on and searches
// for the recorded finding.

#include <string>
#include <vector>

#include "harness/cli/stored_trial.h"
#include "harness/oracle/verdict.h"

namespace headcrash::cli {

/// A recorded or repeated outcome.
struct Replayed {
  std::string what;  ///< name of the state, or key of the trial
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::string log;
};

/// Executes the same operations with the trial's seed, file system and kernel, and explores all
/// crash states. The verdict is that of campaign::find_again(). Fails if the trial cannot be
/// repeated.
Result<Replayed> replay_anew(const StoredTrial& trial);

}  // namespace headcrash::cli
