#pragma once
// Writes the report for a results database as one self-contained HTML file: results, their
// certainty, and the query behind each table. Plots are SVG made by gnuplot, embedded in the page.
// A benchmark can be compared with an earlier one and written as CSV, JSON, JUnit XML and plain
// text.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/db/database.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// The earlier benchmark with which to compare.
struct BaselineOptions {
  std::filesystem::path database;
  /// the baseline's run; default: the newest benchmark in its database
  std::optional<std::int64_t> run;
  double tolerance = 0.05;  ///< smaller changes are ignored
};

struct ReportOptions {
  std::filesystem::path output;     ///< folder, created if missing. The page is output/report.html
  std::optional<std::int64_t> run;  ///< run to report; default: the newest
  // ---- for benchmarks only
  std::optional<BaselineOptions> baseline;
  std::filesystem::path csv;  ///< folder for the CSV files, one per table; empty for none
};

struct ReportResult {
  std::filesystem::path page;
  std::int64_t run = 0, trials = 0;
  std::int64_t unexpected = 0;  ///< trials whose verdict differs from the adapter's promise
  std::size_t regressions = 0;  ///< number of cells that became worse since the baseline
  std::size_t failed = 0;       ///< number of a benchmark's trials that have no result
  std::string text;             ///< for the terminal; empty for experiments and surveys
  std::vector<CiCase> cases;    ///< the cases of a benchmark or a campaign
  nlohmann::json summary;       ///< all results, for other programs
};

/// Writes the report. Fails if there is no such run, the database is empty, gnuplot is missing or
/// fails, the folder is not writable, the baseline is unreadable, or an option is only for
/// benchmarks.
Result<ReportResult> write_report(db::Database& database, const ReportOptions& options);

struct Summary {
  nlohmann::json figures;  ///< for --json
  std::string status,
      systems;  ///< for the terminal: status line, notes, and the table of the file systems
};

/// Returns a campaign's cases. Fails if there is no such run.
Result<std::vector<CiCase>> report_cases(db::Database& database, std::optional<std::int64_t> run);

/// Returns the figures on a campaign's page. Fails if there is no such run or the database is
/// empty.
Result<Summary> report_summary(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
