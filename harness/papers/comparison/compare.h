#pragma once
// An experiment that does not reproduce a paper: compares all our file systems on one modelled
// machine under the same workloads.
//
// Rows are systems, grouped by the permitted loss after a power cut (rows.h); columns are workloads
// (columns.h). Each cell runs with several seeds, and statements about two rows must hold over all
// seeds (interval.h). fairness.cc lists the conditions for a fair comparison and where they are
// violated.

#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// Returns the experiment. It does not reproduce a paper, so there are no published numbers.
Paper experiment();

// timed.cc: response times, time until the machine is idle, and writes per operation.
std::vector<ClaimAnswer> drive(Context& context);
std::vector<ClaimAnswer> drive_cache(Context& context);
std::vector<ClaimAnswer> fast_drive(Context& context);
std::vector<ClaimAnswer> raid5(Context& context);
std::vector<ClaimAnswer> raid5_nvram(Context& context);
std::vector<ClaimAnswer> aged(Context& context);  ///< aged disks at several fill levels
/// sweeps.cc: the default times of the systems, and a sweep over the delay.
std::vector<ClaimAnswer> delays(Context& context);
/// sweeps.cc: a sweep over the size of the file cache.
std::vector<ClaimAnswer> memory(Context& context);
std::vector<ClaimAnswer> laddis(Context& context);  ///< laddis.cc: the load of an NFS server
/// loss.cc: losses after cuts at random instants.
std::vector<ClaimAnswer> loss(Context& context);
/// recovery.cc: time until the first mount, and until the file system is fully consistent.
std::vector<ClaimAnswer> recovery(Context& context);
/// fairness.cc: the conditions, and how each of them is met.
std::vector<ClaimAnswer> fairness(Context& context);
/// summary.cc: the best systems, their costs and their losses.
std::vector<ClaimAnswer> summary(Context& context);

}  // namespace headcrash::experiment::compare
