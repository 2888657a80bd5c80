#pragma once
// Exports a benchmark as JSON, as CSV, and as cases for continuous integration.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "results/report/bench/baseline.h"
#include "results/report/bench/bench_facts.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// Returns the benchmark as JSON: the run, the answer, each contest with its statistics and
/// measurements, the failed trials, and the comparison with the baseline. If the comparison is
/// null, it is omitted.
nlohmann::json bench_json(const Benchmark& bench, const BaselineComparison* baseline);

/// Returns a case for each entrant, grouped by contest. A case is a failure if the entrant
/// regressed, an error if any of its trials failed, and skipped if the result is inconclusive.
/// `baseline` may be null.
std::vector<CiCase> bench_cases(const Benchmark& bench, const BaselineComparison* baseline);

/// Writes measures.csv, cells.csv, trials.csv and metrics.csv. A file contains the result of the
/// query with the same name. Also writes rankings.csv and, if there is a baseline, baseline.csv.
Result<void> write_csv(db::Database& database, const Benchmark& bench,
                       const BaselineComparison* baseline, const std::filesystem::path& folder);

}  // namespace headcrash::report
