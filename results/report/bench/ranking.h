#pragma once
// Who was faster, and how sure that is.
//
// An entrant's rank is one plus the number of entrants that are significantly faster. One is
// significantly faster where the comparison over equal repetitions says so
// (statistics::compare_pairs: the whole interval on one side of 1, and more than kTie apart),
// corrected for the number of pairs in the contest (statistics::correct_for_number). Entrants are
// in the order of their ranks, then of their means. One whose device was busy for less than half of
// the time has no rank: what was measured then is the processor, under software emulation not even
// a real one, or a delay.

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

/// Means closer than this are not a difference.
inline constexpr double kTie = 0.02;

/// Fills in the standings and puts the entrants into their order.
void rank(Contest& contest);

/// Ratios of `entrant` to `base` over the repetitions that both have.
statistics::Comparison compare_entrants(const Entrant& base, const Entrant& entrant,
                                        bool to_quiescence, double tolerance,
                                        std::size_t* pairs = nullptr);

/// "CPU-bound", "idle": why there is no rank though there are numbers.
std::string_view unranked_name(Standing::Kind kind);

/// What is ranked by; 0 or less and infinite ones are not times.
std::vector<double> times_of(const Entrant& entrant, bool to_quiescence);

}  // namespace headcrash::report
