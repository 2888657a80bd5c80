#pragma once
// The page of a benchmark: the answer, the rankings, the numbers, the plots, where they come from.

#include <string>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_answer.h"
#include "results/report/bench/bench_plots.h"
#include "results/report/frame/page.h"

namespace headcrash::report {

/// `baseline` may be null. Errors: gnuplot's.
Result<std::string> bench_page(const Benchmark& bench, const BaselineComparison* baseline);

// Its parts, each a file of its own.
std::string bench_opening(const Benchmark& bench, const BenchAnswer& answer,
                          const BaselineComparison* baseline);
Section bench_overview(const Benchmark& bench);  ///< a map of workloads by file systems
Section baseline_section(const BaselineComparison& comparison);
Section ranking_section(const Benchmark& bench);
Section measures_section(const Benchmark& bench);
Section bench_trials_section(const Benchmark& bench);

/// Colour and name of an entrant.
std::string entrant_name(const std::string& filesystem, const std::string& variant);
/// "copy users=4, copy": a contest among others on its device, by what differs between them.
std::string short_name(const Benchmark& bench, const Contest& contest);

}  // namespace headcrash::report
