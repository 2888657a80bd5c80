#pragma once
// The account of a failure: a page of plain text that a file-system developer can read without
// knowing headcrash. What was done, where the power went, which writes were lost and what they
// were, what had to be there and what was.

#include <string>
#include <vector>

#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/reproduce/minimise.h"

namespace headcrash::explorer {

struct DescribedFailure {
  const adapters::LinuxAdapter* filesystem = nullptr;
  const RecordedWorkload* workload = nullptr;
  const states::RunHistory* run = nullptr;  ///< of the workload's recording
  states::CrashState state;
  const StateOutcome* outcome = nullptr;  ///< of that state
  FailureKind kind;
  std::vector<std::string> faults;  ///< of an array, when the power returned
  std::vector<std::string> notes;   ///< how it was made smaller and confirmed, one sentence each
  std::vector<std::string> replay;  ///< commands that show it again
};

/// At most 100 columns, but for words and paths that are longer. Errors: a recording that cannot be
/// read.
Result<std::string> failure_text(const DescribedFailure& of);

}  // namespace headcrash::explorer
