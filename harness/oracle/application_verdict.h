#pragma once
// What an application's verifier said, as findings (harness/workload/application.h).
//
//   "lost: TEXT"    lost_synced_data: the application was promised that it is persistent
//   "wrong: TEXT"   wrong_data: no moment of the run had it (a failed integrity check, half a transaction)
//   "permitted: TEXT"   no finding: missing, and the application's documents do not promise it
//
// The findings of a trial then go the same way as the oracle's, through judge_trial().

#include <string>
#include <string_view>
#include <vector>

#include "harness/oracle/verdict.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

struct VerifierEnd {
  int exit_code = 0;
  std::string output, errors;  ///< standard output and standard error, or their ends
};

inline constexpr std::size_t kApplicationFindingsMost =
    100;  ///< the last then says how many more there are

/// Errors: a verifier that neither found everything in order (exit 0) nor named what is not (exit 1
/// and lines): nothing is known about the file system then. A verifier that never ended is the
/// caller's to tell: a hang.
Result<std::vector<Finding>> application_findings(const VerifierEnd& verifier);

/// What its lines "permitted: ..." say, the first few, joined by "; "; empty: nothing.
std::string permitted_losses(std::string_view output);

/// The texts of marks "persisted TEXT", as the verifier gets them.
std::string verifier_input(const std::vector<std::string>& marks);

}  // namespace headcrash::oracle
