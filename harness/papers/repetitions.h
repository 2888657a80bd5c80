#pragma once
// Compares the answers of a part for one seed with its answers for other seeds.

#include <vector>

#include "results/db/claim.h"

namespace headcrash::experiment {

/// Sets the number of executions of each rule, and the lowest and highest value of each number over
/// all executions. A rule that holds in only some executions becomes undecided, because the result
/// is within the spread of the executions. Rules and numbers that are missing in the other
/// executions remain unchanged.
void compare_executions(std::vector<ClaimAnswer>& answers,
                        const std::vector<std::vector<ClaimAnswer>>& others);

}  // namespace headcrash::experiment
