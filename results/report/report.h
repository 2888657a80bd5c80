#pragma once
// Writes the report on a results database as one self-contained HTML file. It shows results, how
// certain they are, and the query behind each table. Plots are SVG made by gnuplot, embedded in the
// page. A benchmark can be compared with an earlier one, and can also be written as CSV, JSON,
// JUnit XML and plain text.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/db/database.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// The earlier benchmark with which a benchmark is compared.
struct BaselineOptions {
  std::filesystem::path database;
  /// Run in `database`; default: the newest benchmark.
  std::optional<std::int64_t> run;
  double tolerance = 0.05;  ///< as a fraction (0.05 is 5 %); smaller changes are ignored
};

struct ReportOptions {
  /// The report's directory, which is created if it does not exist. The page is the file
  /// report.html in this directory.
  std::filesystem::path output;
  std::optional<std::int64_t> run;  ///< run to report; default: the newest
  // ---- for benchmarks only
  std::optional<BaselineOptions> baseline;
  /// directory for the CSV files, one for each table; empty to write none
  std::filesystem::path csv;
};

struct ReportResult {
  std::filesystem::path page;
  std::int64_t run = 0, trials = 0;
  std::int64_t unexpected = 0;  ///< trials whose verdict differs from the adapter's promise
  std::size_t regressions = 0;  ///< number of cells that have become worse since the baseline
  std::size_t failed = 0;       ///< number of a benchmark's trials that have no result
  std::string text;             ///< text for the terminal; empty for experiments and surveys
  std::vector<CiCase> cases;    ///< the cases of a benchmark or a campaign
  nlohmann::json summary;       ///< all results, for other programs
};

/// Writes the report. Fails if there is no such run, the database is empty, gnuplot is missing or
/// fails, the directory is not writable, or the baseline is unreadable. Also fails if an option
/// that is only for benchmarks is used with another kind of run.
Result<ReportResult> write_report(db::Database& database, const ReportOptions& options);

struct Summary {
  nlohmann::json figures;  ///< for --json
  std::string status,
      systems;  ///< text for the terminal: status line, notes, and the table of the file systems
};

/// Returns a campaign's cases. Fails if there is no such run.
Result<std::vector<CiCase>> report_cases(db::Database& database, std::optional<std::int64_t> run);

/// Returns the numbers on a campaign's page. Fails if there is no such run or the database is
/// empty.
Result<Summary> report_summary(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
