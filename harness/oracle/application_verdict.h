#pragma once
// Converts the output of an application's verifier to findings (harness/workload/application.h).
//
//   "lost: TEXT"        lost_synced_data: the application was promised that TEXT is persistent
//   "wrong: TEXT"       wrong_data: this state never existed during the run (for example, a failed
//                       integrity check, or half a transaction)
//   "permitted: TEXT"   no finding: TEXT is missing, but the application's documentation does not
//                       promise that it is kept
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
  std::string output, errors;  ///< the caller keeps only the last part of each
};

/// Maximum number of findings. If there are more, one additional finding states how many were
/// omitted.
inline constexpr std::size_t kApplicationFindingsMost = 100;

/// Converts the output of a verifier that has exited. Fails if the exit code is neither 0, nor 1
/// with at least one line that names a loss, because the state of the file system is then unknown.
/// If the verifier timed out, the caller must treat this as a hang.
Result<std::vector<Finding>> application_findings(const VerifierEnd& verifier);

/// Converts the exit code of a verifier that does not use the output format of
/// application_findings(). For any code other than 0, returns one finding of lost_synced_data with
/// the end of the output. Fails if the shell could not start the verifier (exit codes 126 and 127).
Result<std::vector<Finding>> exit_code_findings(const VerifierEnd& verifier);

/// Returns the texts of the first few "permitted: ..." lines, joined by "; ". Returns an empty
/// string if there are no such lines.
std::string permitted_losses(std::string_view output);

/// Formats the texts of the marks "persisted TEXT" as the verifier's standard input.
std::string verifier_input(const std::vector<std::string>& marks);

}  // namespace headcrash::oracle
