#pragma once
// Converts the output of an application's verifier to findings (harness/workload/application.h).
//
//   "lost: TEXT"    lost_synced_data: the application was promised that it is persistent
//   "wrong: TEXT"   wrong_data: it existed at no moment of the run (a failed integrity check, half
//                   a transaction)
//   "permitted: TEXT"   no finding: missing, but not promised by the application's documentation
//
// judge_trial() treats these findings like those of the oracle.

#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/verdict.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

struct VerifierEnd {
  int exit_code = 0;
  std::string output, errors;  ///< both limited to their last part by the caller
};

/// Maximum number of findings. If there are more, an additional finding states how many were
/// omitted.
inline constexpr std::size_t kApplicationFindingsMost = 100;

/// Converts the output of a verifier that has exited. Fails unless the verifier exited with 0, or
/// with 1 and at least one line that names a loss: otherwise, the state of the file system is
/// unknown. The caller must handle a verifier that timed out as a hang.
Result<std::vector<Finding>> application_findings(const VerifierEnd& verifier);

/// Converts the exit code of a verifier that does not print such lines. Any code other than 0 is
/// one finding of lost_synced_data, which quotes the end of the output. Fails if the shell could
/// not start the verifier (exit 126 or 127).
Result<std::vector<Finding>> exit_code_findings(const VerifierEnd& verifier);

/// Returns the texts of the first few lines "permitted: ...", joined by "; ". Returns an empty
/// string if there are no such lines.
std::string permitted_losses(std::string_view output);

/// Formats the texts of marks "persisted TEXT" as standard input for the verifier.
std::string verifier_input(const std::vector<std::string>& marks);

}  // namespace headcrash::oracle
