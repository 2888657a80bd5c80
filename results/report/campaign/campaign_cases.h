#pragma once
// A campaign's cells as the cases of continuous integration.

#include "results/report/campaign/facts.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// Returns a case for each cell, grouped by file system: failed if a trial is not as expected or a
/// control has not shown what it must, an error if trials ended with an error of the laboratory,
/// skipped if nothing is promised.
std::vector<CiCase> campaign_cases(const Facts& facts);

}  // namespace headcrash::report
