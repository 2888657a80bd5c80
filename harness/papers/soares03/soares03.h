#pragma once
// Reproduces Soares, Krieger and Da Silva, "Meta-data Snapshotting: A Simple Mechanism for File
// System Consistency", 2003.

#include "harness/papers/paper.h"

namespace headcrash::experiment::soares03 {

Paper paper();

// Each part is in a file of the same name. The following parts reproduce sections IV-B to IV-E on
// the modelled machine (pentium4.h):
std::vector<ClaimAnswer> empty_files(Context& context);  // MS-01
std::vector<ClaimAnswer> postmark(Context& context);     // MS-02
std::vector<ClaimAnswer> dbench(Context& context);       // MS-03 to MS-06
std::vector<ClaimAnswer> source_tree(Context& context);
// Longer loads on the modelled machine (steady_load.h):
std::vector<ClaimAnswer> intervals(Context& context);    // MS-13
std::vector<ClaimAnswer> short_lives(Context& context);  // MS-12
std::vector<ClaimAnswer> stalls(Context& context);       // MS-10, MS-11
// Claims that are checked by exploring crash states, and by arithmetic on printed numbers:
std::vector<ClaimAnswer> crash_states(Context& context);  // MS-07 to MS-09, MS-14, MS-15
std::vector<ClaimAnswer> arithmetic(Context& context);    // MS-16, MS-03

}  // namespace headcrash::experiment::soares03
