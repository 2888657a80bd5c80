#pragma once
// A benchmark for other programs.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

/// Run, answer, contests with statistics and every measurement, failed trials, baseline. `baseline`
/// may be null.
nlohmann::json bench_json(const Benchmark& bench, const BaselineComparison* baseline);

/// A test suite a contest, a test case an entrant: a failure where it regressed, an error where its
/// trials failed, skipped where the result is inconclusive.
std::string bench_junit(const Benchmark& bench, const BaselineComparison* baseline);

/// measures.csv, cells.csv, trials.csv, metrics.csv (the queries of these names), rankings.csv,
/// baseline.csv.
Result<void> write_csv(db::Database& database, const Benchmark& bench,
                       const BaselineComparison* baseline, const std::filesystem::path& folder);

}  // namespace headcrash::report
