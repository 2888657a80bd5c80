#pragma once
// An experiment without a paper: compares all our file systems on one modelled machine under the
// same workloads.
//
// Rows are grouped by the permitted loss at a power cut (rows.h), columns are workloads
// (columns.h). Each cell runs with several seeds, and statements about two rows hold over the seeds
// (interval.h). fairness.cc lists the conditions of fairness and their violations.

#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// Returns the experiment. It is not a paper, so there are no printed numbers.
Paper experiment();

// timed.cc: responses, time until idle, writes per operation.
std::vector<ClaimAnswer> drive(Context& context);
std::vector<ClaimAnswer> drive_cache(Context& context);
std::vector<ClaimAnswer> fast_drive(Context& context);
std::vector<ClaimAnswer> raid5(Context& context);
std::vector<ClaimAnswer> raid5_nvram(Context& context);
std::vector<ClaimAnswer> aged(Context& context);  ///< a used disk, by its used share
std::vector<ClaimAnswer> delays(
    Context& context);  ///< sweeps.cc: the systems' default times, and a sweep of the delay
std::vector<ClaimAnswer> memory(Context& context);  ///< sweeps.cc: a sweep of the file cache
std::vector<ClaimAnswer> laddis(Context& context);  ///< laddis.cc: the load of an NFS server
std::vector<ClaimAnswer> loss(Context& context);    ///< loss.cc: losses at cuts at random instants
std::vector<ClaimAnswer> recovery(
    Context& context);  ///< recovery.cc: time to the first mount, and to full consistency
std::vector<ClaimAnswer> fairness(
    Context& context);  ///< fairness.cc: the conditions, and how each is met
std::vector<ClaimAnswer> summary(
    Context& context);  ///< summary.cc: the winners, their costs and their losses

}  // namespace headcrash::experiment::compare
