#pragma once
// Ranks the entrants in a contest, and determines how certain each rank is.
//
// An entrant's rank is one plus the number of significantly faster entrants. An entrant is
// significantly faster than another if three conditions hold. First, in the comparison of equal
// repetitions (statistics::compare_pairs), the whole interval is on one side of 1. Second, the
// difference is more than kTie. Third, the comparison is still significant after the correction for
// the number of pairs in the contest (statistics::correct_for_number).
//
// Entrants are ordered by rank, then by mean. An entrant whose device was busy for less than half
// of the time has no rank, because its time measures a delay or the processor, and the processor's
// speed is not realistic under software emulation.

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

/// Two means count as tied if their difference is smaller than this fraction.
inline constexpr double kTie = 0.02;

/// Computes the standings and sorts the entrants.
void rank(Contest& contest);

/// Compares the times of `entrant` with those of `base`, in pairs of equal repetitions. Without
/// pairs, sets only the ratio of the means. `pairs`, unless null, receives the number of pairs.
statistics::Comparison compare_entrants(const Entrant& base, const Entrant& entrant,
                                        bool to_quiescence, double tolerance,
                                        std::size_t* pairs = nullptr);

/// Returns the reason why an entrant was measured but not ranked: "CPU-bound" or "idle".
std::string_view unranked_name(Standing::Kind kind);

/// Returns the ranked times, without infinite and non-positive values.
std::vector<double> times_of(const Entrant& entrant, bool to_quiescence);

}  // namespace headcrash::report
