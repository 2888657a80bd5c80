#pragma once
// The table that no paper has: every file system of ours on one modelled machine, with the same
// workloads.
//
// Rows are grouped by what a power cut may take (rows.h), columns are workloads (columns.h). Each
// cell is run with several seeds; whatever is said of two rows holds over them (interval.h). What
// makes it fair, and where it is not, is part of it (fairness.cc).

#include "harness/papers/paper.h"

namespace headcrash::experiment::compare {

/// No paper: nothing is printed to be compared with.
Paper experiment();

// timed.cc: responses, work until quiet, writes an operation.
std::vector<ClaimAnswer> drive(Context& context);
std::vector<ClaimAnswer> drive_cache(Context& context);
std::vector<ClaimAnswer> fast_drive(Context& context);
std::vector<ClaimAnswer> raid5(Context& context);
std::vector<ClaimAnswer> raid5_nvram(Context& context);
std::vector<ClaimAnswer> aged(Context& context);  ///< a disk that was in use, by how full it is
std::vector<ClaimAnswer> delays(
    Context& context);  ///< sweeps.cc: the systems' own times, and a sweep of the delay
std::vector<ClaimAnswer> memory(Context& context);  ///< sweeps.cc: and one of the file cache
std::vector<ClaimAnswer> laddis(Context& context);  ///< laddis.cc: an NFS server's load
std::vector<ClaimAnswer> loss(Context& context);    ///< loss.cc: what cuts at random instants take
std::vector<ClaimAnswer> recovery(
    Context& context);  ///< recovery.cc: until the first mount, and to full consistency
std::vector<ClaimAnswer> fairness(
    Context& context);  ///< fairness.cc: the conditions, each with how it is met
std::vector<ClaimAnswer> summary(
    Context& context);  ///< summary.cc: who wins where, what it costs, what is lost

}  // namespace headcrash::experiment::compare
