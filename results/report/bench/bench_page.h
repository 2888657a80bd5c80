#pragma once
// A benchmark's page: the answer, the rankings, the numbers, the plots and the environment.

#include <string>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_answer.h"
#include "results/report/bench/bench_plots.h"
#include "results/report/frame/page.h"

namespace headcrash::report {

/// Returns the page. `baseline` may be null. Fails if gnuplot fails.
Result<std::string> bench_page(const Benchmark& bench, const BaselineComparison* baseline);

// ---- sections of the page, each in its own file
std::string bench_opening(const Benchmark& bench, const BenchAnswer& answer,
                          const BaselineComparison* baseline);
/// A map with a row for each workload and a column for each file system.
Section bench_overview(const Benchmark& bench);
Section baseline_section(const BaselineComparison& comparison);
Section ranking_section(const Benchmark& bench);
Section measures_section(const Benchmark& bench);
Section bench_trials_section(const Benchmark& bench);

/// Returns HTML with an entrant's colour mark and name.
std::string entrant_name(const std::string& filesystem, const std::string& variant);
/// Returns a contest's name, reduced to the parts that distinguish it from the other contests on
/// its device, such as "copy users=4, copy".
std::string short_name(const Benchmark& bench, const Contest& contest);

}  // namespace headcrash::report
