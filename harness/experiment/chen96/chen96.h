#pragma once
// Chen, "Optimizing Delay in Delayed-Write File Systems", 1996: what its equations say, beside what it prints.

#include "harness/experiment/paper.h"

namespace headcrash::experiment::chen96 {

Paper paper();

// calculator.cc: the six equations, and the paper's examples (CH-01 to CH-10, CH-14, CH-16).
std::vector<ClaimAnswer> calculator(Context& context);

}  // namespace headcrash::experiment::chen96
