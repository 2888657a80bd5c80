#pragma once
// The parts about chapters 2 to 4 and 6, which run on the machine of prototype.h.

#include "harness/papers/paper.h"

namespace headcrash::experiment::rosenblum92 {

/// Figure 4-1, and the operations on a small file in section 3.1.
std::vector<ClaimAnswer> two_files(Context& context);
/// Section 6.2.1.1: figures 6-1 to 6-3.
std::vector<ClaimAnswer> small_files(Context& context);
/// Section 6.2.1.2: figure 6-4. Section 6.7: the phases of both benchmarks in which LFS is slower
/// than SunOS.
std::vector<ClaimAnswer> large_file(Context& context);
/// Section 6.2.1.3, table 6-1, and the statements about recovery in sections 2.5.2 and 4.5.2.2.
std::vector<ClaimAnswer> recovery_times(Context& context);
/// Section 6.2.2: figure 6-5.
std::vector<ClaimAnswer> andrew(Context& context);
/// Section 3.1.2.1: the cost of small writes to an array.
std::vector<ClaimAnswer> array_writes(Context& context);
/// Section 2.5.3: sequential writes take longer if all data is also written to a log.
std::vector<ClaimAnswer> logging(Context& context);
/// Sections 6.3 to 6.6: tables 6-2 to 6-4, figure 6-6.
std::vector<ClaimAnswer> production(Context& context);

}  // namespace headcrash::experiment::rosenblum92
