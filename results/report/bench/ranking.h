#pragma once
// Ranking of entrants and its certainty.
//
// An entrant's rank is one plus the number of significantly faster entrants. One entrant is
// significantly faster than another according to the comparison over equal repetitions
// (statistics::compare_pairs). This requires the whole interval on one side of 1 and a difference
// of more than kTie. It must also pass the correction for the number of pairs in the contest
// (statistics::correct_for_number).
//
// Entrants are ordered by rank, then by mean. An entrant whose device was busy for less than half
// of the time has no rank. Its time measures a delay or the processor, which is not a real one
// under software emulation.

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

/// Smaller differences between means count as ties.
inline constexpr double kTie = 0.02;

/// Computes the standings and sorts the entrants.
void rank(Contest& contest);

/// Returns the ratios of `entrant` to `base` over their common repetitions.
statistics::Comparison compare_entrants(const Entrant& base, const Entrant& entrant,
                                        bool to_quiescence, double tolerance,
                                        std::size_t* pairs = nullptr);

/// Returns the reason for a missing rank despite numbers: "CPU-bound" or "idle".
std::string_view unranked_name(Standing::Kind kind);

/// Returns the ranked times, without infinite or non-positive ones.
std::vector<double> times_of(const Entrant& entrant, bool to_quiescence);

}  // namespace headcrash::report
