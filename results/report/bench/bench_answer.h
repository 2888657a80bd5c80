#pragma once
// The answer of a benchmark: a status line and notes, the same on the page, in the terminal and in
// JSON. The rankings themselves are tables (ranking_section.cc, bench_text.cc).

#include <string>
#include <vector>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

struct BenchAnswer {
  /// Empty for real time, else what the guests' clock makes of the numbers.
  std::string clock;
  std::string status;  ///< "comparisons: 8; fastest: xfs 5, ext4 2; no significant winner: 1"
  std::vector<std::string>
      notes;  ///< what limits the numbers: failed or late trials, idle cells, ...
};

BenchAnswer answer_of(const Benchmark& bench);

/// The time that a contest is ranked by: "time to quiescence", "elapsed virtual time".
std::string time_name(const Contest& contest);
/// "copy files=535 users=4, phase copy, on hp-c2447 (scaled)"
std::string title_of(const Contest& contest);
/// "+13.9 %, 11.2 to 16.8"; "+0.7 %, -0.4 to 2.9: not significant"; "+0.1 %, 0.1 to 0.1: a tie"
/// (less than kTie)
std::string difference(const Standing& standing);
/// Why an entrant has no rank: "CPU-bound: the device was busy 31.0 % of the time, the processor
/// 62.0 %".
std::string unranked_because(const Entrant& entrant);
/// What limits an entrant's measurements: "2 of 5 late", "outliers: 1"; may be empty.
std::vector<std::string> marks_of(const Entrant& entrant);

/// Cells by verdict: "worse: 1, better: 3, same: 12"
std::string verdict_line(const BaselineComparison& comparison);

/// For the terminal: the answer, each contest as a small table, the change against a baseline.
std::string bench_text(const Benchmark& bench, const BaselineComparison* baseline);

}  // namespace headcrash::report
