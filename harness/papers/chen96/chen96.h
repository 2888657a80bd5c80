#pragma once
// Reproduces Chen, "Optimizing Delay in Delayed-Write File Systems", 1996, and compares the
// equations with the results in the paper.

#include "harness/papers/paper.h"

namespace headcrash::experiment::chen96 {

Paper paper();

// calculator.cc: the six equations and the paper's examples (CH-01 to CH-10, CH-14, CH-16).
std::vector<ClaimAnswer> calculator(Context& context);
// writes.cc, rules.cc, policies.cc: section 6 on the modelled machine (axp3000_600.h).
std::vector<ClaimAnswer> writes_by_size(Context& context);  // CH-08, CH-14, CH-15
std::vector<ClaimAnswer> rules(Context& context);           // CH-11 to CH-13
std::vector<ClaimAnswer> policies(Context& context);        // CH-17, CH-18
std::vector<ClaimAnswer> delays(Context& context);          // delays.cc: CH-03, 04, 07, 10
// loss.cc: for each policy and file system, the losses after a power cut on the modelled machine.
// The paper makes no claims about these losses.
std::vector<ClaimAnswer> loss(Context& context);

}  // namespace headcrash::experiment::chen96
