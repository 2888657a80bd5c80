#pragma once
// A benchmark's answer: a status line and notes, which are the same on the page, in the terminal
// and in JSON. The rankings themselves are tables (ranking_section.cc, bench_text.cc).

#include <string>
#include <vector>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

struct BenchAnswer {
  /// The effect of the guests' clock on the results, in words; empty for guests in real time.
  std::string clock;
  /// For example "comparisons: 8; fastest: xfs 5, ext4 2; no significant winner: 1".
  std::string status;
  /// Limitations of the numbers: failed trials, late trials, idle cells, ...
  std::vector<std::string> notes;
};

BenchAnswer answer_of(const Benchmark& bench);

/// Returns the name of the time by which entrants are ranked, such as "time to quiescence" or
/// "elapsed virtual time".
std::string time_name(const Contest& contest);
/// Returns the contest's title, such as "copy files=535 users=4, phase copy, on hp-c2447 (scaled)".
std::string title_of(const Contest& contest);
/// Returns an entrant's difference from the best one. Examples: "+13.9 %, 11.2 to 16.8"; "+0.7 %,
/// -0.4 to 2.9: not significant"; "+0.1 %, 0.1 to 0.1: a tie" (less than kTie).
std::string difference(const Standing& standing);
/// Returns the reason why an entrant has no rank, such as "CPU-bound: the device was busy 31.0 % of
/// the time, the processor 62.0 %".
std::string unranked_because(const Entrant& entrant);
/// Returns the limitations of an entrant's measurements, such as "2 of 5 late" or "outliers: 1";
/// may be empty.
std::vector<std::string> marks_of(const Entrant& entrant);

/// Returns the number of cells with each verdict, such as "worse: 1, better: 3, same: 12".
std::string verdict_line(const BaselineComparison& comparison);

/// Returns the text for the terminal: the answer, a small table for each contest, and the changes
/// since the baseline.
std::string bench_text(const Benchmark& bench, const BaselineComparison* baseline);

}  // namespace headcrash::report
