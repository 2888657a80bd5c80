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
  std::string output, errors;  ///< standard output and standard error, or their last parts
};

inline constexpr std::size_t kApplicationFindingsMost =
    100;  ///< a last finding states the number of others

/// Converts the output of a verifier. Fails unless the verifier found everything in order (exit 0),
/// or named the losses (exit 1 and lines): otherwise the state of the file system is unknown. A
/// verifier that did not end must be handled by the caller, as a hang.
Result<std::vector<Finding>> application_findings(const VerifierEnd& verifier);

/// Converts the exit code of a verifier that prints no such lines: any other than 0 is one finding
/// of lost_synced_data with the end of its output. Fails if the shell could not start it (exit 126
/// or 127).
Result<std::vector<Finding>> exit_code_findings(const VerifierEnd& verifier);

/// Returns the first few texts of the lines "permitted: ...", joined by "; "; empty without such
/// lines.
std::string permitted_losses(std::string_view output);

/// Returns the texts of marks "persisted TEXT" as input for the verifier.
std::string verifier_input(const std::vector<std::string>& marks);

}  // namespace headcrash::oracle
