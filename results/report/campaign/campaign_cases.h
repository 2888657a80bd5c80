#pragma once
// Converts the cells of a campaign to cases for continuous integration.

#include "results/report/campaign/facts.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// Returns a case for each cell, grouped by file system. A case is failed if a trial has an
/// unexpected result or a control did not show its required result. It is an error if trials ended
/// with an error of the laboratory, and skipped if nothing is promised.
std::vector<CiCase> campaign_cases(const Facts& facts);

}  // namespace headcrash::report
