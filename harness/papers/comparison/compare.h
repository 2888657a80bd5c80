#pragma once
// An experiment without a paper: compares all our file systems on one modelled machine under the
// same workloads.
//
// Rows are grouped by the permitted loss after a power cut (rows.h); columns are workloads
// (columns.h). Each cell runs with several seeds, and statements about two rows must hold over the
// seeds (interval.h). fairness.cc lists the conditions for a fair comparison and their violations.

#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// Returns the experiment. It reproduces no paper, so there are no printed numbers.
Paper experiment();

// timed.cc: response times, time until idle, writes per operation.
std::vector<ClaimAnswer> drive(Context& context);
std::vector<ClaimAnswer> drive_cache(Context& context);
std::vector<ClaimAnswer> fast_drive(Context& context);
std::vector<ClaimAnswer> raid5(Context& context);
std::vector<ClaimAnswer> raid5_nvram(Context& context);
std::vector<ClaimAnswer> aged(Context& context);  ///< a used disk, by how full it is
std::vector<ClaimAnswer> delays(
    Context& context);  ///< sweeps.cc: the systems' default times, and a sweep over the delay
/// sweeps.cc: a sweep over the size of the file cache
std::vector<ClaimAnswer> memory(Context& context);
std::vector<ClaimAnswer> laddis(Context& context);  ///< laddis.cc: the load of an NFS server
/// loss.cc: losses after cuts at random instants
std::vector<ClaimAnswer> loss(Context& context);
std::vector<ClaimAnswer> recovery(
    Context& context);  ///< recovery.cc: time until the first mount, and until full consistency
std::vector<ClaimAnswer> fairness(
    Context& context);  ///< fairness.cc: the conditions, and how each is met
std::vector<ClaimAnswer> summary(
    Context& context);  ///< summary.cc: the winners, what they cost and what they lose

}  // namespace headcrash::experiment::compare
