#pragma once
// A benchmark in sentences: what a busy person reads, on the page, in the terminal and in JSON alike.

#include <string>
#include <vector>

#include "results/report/baseline.h"
#include "results/report/bench_facts.h"

namespace headcrash::report {

struct BenchAnswer {
  std::string paragraph;               ///< who was fastest, how often
  std::vector<std::string> standings;  ///< one sentence a contest, in their order
  std::vector<std::string> cautions;   ///< what a reader has to know before believing it
};

BenchAnswer answer_of(const Benchmark& bench);

/// "copy files=535 users=4, phase copy, on hp-c2447 (scaled)"
std::string title_of(const Contest& contest);
/// "+13.9 % (11.2 to 16.8)"; "not told apart (-0.4 to 1.9 %)"
std::string difference(const Standing& standing);
/// Why an entrant has no rank: "CPU-bound: the device was busy 31.0 % of the time, the processor 62.0 %".
std::string unranked_because(const Entrant& entrant);
/// What is wrong with an entrant's measurements, in words; none for nothing.
std::vector<std::string> marks_of(const Entrant& entrant);

/// "better in 3 cells, worse in 1, ..."
std::string verdict_line(const BaselineComparison& comparison);

/// For the terminal: the answer, each contest as a small table, the change against a baseline.
std::string bench_text(const Benchmark& bench, const BaselineComparison* baseline);

}  // namespace headcrash::report
