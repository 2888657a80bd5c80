#pragma once
// Writes the account of a failure: a page of plain text for file-system developers who do not know
// headcrash. The account lists the operations, the power cut, the lost writes and their contents,
// and the expected and actual results.

#include <string>
#include <vector>

#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/reproduce/minimise.h"

namespace headcrash::explorer {

struct DescribedFailure {
  const adapters::LinuxAdapter* filesystem = nullptr;
  const RecordedWorkload* workload = nullptr;
  const states::RunHistory* run = nullptr;  ///< the recording of the workload
  states::CrashState state;
  const StateOutcome* outcome = nullptr;  ///< the outcome of the failed state
  FailureKind kind;
  /// Faults that were injected into the array when the power returned.
  std::vector<std::string> faults;
  /// Results of minimising and confirming the failure, one sentence each.
  std::vector<std::string> notes;
  std::vector<std::string> replay;  ///< commands that reproduce the failure
};

/// Describes the failure as text. Lines have at most 100 columns, except for single words and paths
/// that are longer. Fails if the recording cannot be read.
Result<std::string> failure_text(const DescribedFailure& of);

}  // namespace headcrash::explorer
