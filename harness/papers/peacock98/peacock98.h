#pragma once
// Reproduces Peacock, Kamaraju and Agrawal, "Fast Consistency Checking for the Solaris File
// System", USENIX 1998.

#include <string>
#include <vector>

#include "harness/papers/paper.h"
#include "harness/papers/peacock98/ultra2.h"

namespace headcrash::experiment::peacock98 {

Paper paper();

/// Returns the servers whose curves a part shows, for Session::prepare(). Returns an empty vector
/// if the part shows no curves.
std::vector<ServerChoice> curves_of(const std::string& part);
std::vector<ServerChoice> curves_of_tunings(Raid raid, Presto presto,
                                            Reading reading = Reading::by_directory);
std::vector<ServerChoice> curves_of_hot_spot();
std::vector<ServerChoice> curves_of_presto();
std::vector<ServerChoice> curves_of_batching();
std::vector<ServerChoice> curves_of_causes();
std::vector<ServerChoice> curves_of_soft_updates();

// Each part is in the file named after the part or its subject.
//
// Section 6.2, LADDIS (figures.cc):
std::vector<ClaimAnswer> raid0(Context& context);         // PK-09
std::vector<ClaimAnswer> raid0_presto(Context& context);  // PK-09
std::vector<ClaimAnswer> raid5(Context& context);         // PK-07
std::vector<ClaimAnswer> raid5_presto(Context& context);  // PK-03, PK-08
std::vector<ClaimAnswer> presto(Context& context);        // PK-05, PK-06
// The rules about UFS and bmap in the second reading (ultra2.h), also those of section 4:
std::vector<ClaimAnswer> hot_spot(Context& context);  // PK-07, PK-08, PK-09, PK-11, PK-12, PK-23
// Sections 3.2, 3.3, 5.3 and 5.4 (counts.cc):
std::vector<ClaimAnswer> counts(Context& context);  // PK-01, PK-02, PK-26
std::vector<ClaimAnswer> mkfs(Context& context);    // PK-21
// Sections 6.3 and 6.4 (recovery.cc):
std::vector<ClaimAnswer> recovery(Context& context);  // PK-13, PK-17
std::vector<ClaimAnswer> flusher(Context& context);   // PK-14
std::vector<ClaimAnswer> table1(Context& context);    // PK-16
// Measurements at one load, or of one knee (single_loads.cc):
std::vector<ClaimAnswer> tunings(Context& context);  // PK-15, PK-22
std::vector<ClaimAnswer> stripes(Context& context);  // PK-04
std::vector<ClaimAnswer> hits(Context& context);     // PK-11
/// Returns PK-11 in one reading; nullopt if the run was interrupted.
std::optional<ClaimAnswer> hits_in(Context& context, Reading reading);
std::vector<ClaimAnswer> repeated(Context& context);  // PK-10
std::vector<ClaimAnswer> batching(Context& context);  // PK-12, PK-19
/// The log of PK-12, and its rule about UFS.
ServerChoice unbatched_log();
/// Returns the knee of a curve or, if it has none, its highest throughput.
Figure knee_or_highest(Context& context, const ServerChoice& choice);
void judge_unbatched(ClaimAnswer& answer, const Context& context, Figure unbatched, Figure ufs);
std::vector<ClaimAnswer> small(Context& context);  // PK-18
std::vector<ClaimAnswer> gathering(Context& context);
// Sums of numbers in the paper (arithmetic.cc):
std::vector<ClaimAnswer> arithmetic(Context& context);  // PK-20, PK-05, PK-17
// Questions that are not in the paper:
std::vector<ClaimAnswer> causes(Context& context);
std::vector<ClaimAnswer> beyond(Context& context);

}  // namespace headcrash::experiment::peacock98
