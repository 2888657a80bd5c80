#pragma once
// Compares the answers of a part for one seed with its answers for other seeds.

#include <vector>

#include "harness/papers/claim.h"

namespace headcrash::experiment {

/// Gives each rule its number of executions, and each number the lowest and highest value of all
/// executions. A rule that holds in some executions only becomes undecided, because its result is
/// within their spread. Rules and numbers that the others do not have remain unchanged.
void compare_executions(std::vector<ClaimAnswer>& answers,
                        const std::vector<std::vector<ClaimAnswer>>& others);

}  // namespace headcrash::experiment
