#pragma once
// The page of a benchmark: the answer, the rankings, the numbers, the plots, where they come from.

#include <string>

#include "results/report/baseline.h"
#include "results/report/bench_answer.h"
#include "results/report/bench_plots.h"

namespace headcrash::report {

/// `baseline` may be null. Errors: gnuplot's.
Result<std::string> bench_page(const Benchmark& bench, const BaselineComparison* baseline);

// Its parts, each a file of its own.
std::string bench_opening(const Benchmark& bench, const BenchAnswer& answer,
                          const BaselineComparison* baseline);
std::string bench_overview(const Benchmark& bench);
std::string baseline_section(const Benchmark& bench, const BaselineComparison& comparison);
std::string ranking_section(const Benchmark& bench, const BenchPlots& plots);
std::string measures_section(const Benchmark& bench);
std::string trials_section(const Benchmark& bench);

/// Colour and name of an entrant.
std::string entrant_name(const Benchmark& bench, const std::string& filesystem, const std::string& variant);
/// "copy files=535 users=4", and phase and device in small print.
std::string contest_name(const Contest& contest);

}  // namespace headcrash::report
