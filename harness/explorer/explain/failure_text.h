#pragma once
// The account of a failure: a page of plain text for file-system developers who do not know
// headcrash. It contains the operations, the power cut, the lost writes and their contents, and the
// expected and found results.

#include <string>
#include <vector>

#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/reproduce/minimise.h"

namespace headcrash::explorer {

struct DescribedFailure {
  const adapters::LinuxAdapter* filesystem = nullptr;
  const RecordedWorkload* workload = nullptr;
  const states::RunHistory* run = nullptr;  ///< the workload's recording
  states::CrashState state;
  const StateOutcome* outcome = nullptr;  ///< the outcome of the failed state
  FailureKind kind;
  std::vector<std::string> faults;  ///< array faults injected when the power returned
  std::vector<std::string> notes;   ///< results of minimising and confirming, one sentence each
  std::vector<std::string> replay;  ///< commands that reproduce the failure
};

/// Returns the account. Lines have at most 100 columns, except for longer words and paths. Fails if
/// the recording cannot be read.
Result<std::string> failure_text(const DescribedFailure& of);

}  // namespace headcrash::explorer
