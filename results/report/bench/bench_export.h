#pragma once
// Export of a benchmark for other programs.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_facts.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// Returns run, answer, contests with statistics and every measurement, failed trials, baseline.
/// `baseline` may be null.
nlohmann::json bench_json(const Benchmark& bench, const BaselineComparison* baseline);

/// Returns a case for each entrant, grouped by contest: failed if it regressed, an error if its
/// trials failed, skipped if the result is inconclusive. `baseline` may be null.
std::vector<CiCase> bench_cases(const Benchmark& bench, const BaselineComparison* baseline);

/// measures.csv, cells.csv, trials.csv, metrics.csv (the queries of these names), rankings.csv,
/// baseline.csv.
Result<void> write_csv(db::Database& database, const Benchmark& bench,
                       const BaselineComparison* baseline, const std::filesystem::path& folder);

}  // namespace headcrash::report
