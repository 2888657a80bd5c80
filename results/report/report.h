#pragma once
// One self-contained HTML file from a results database: what happened, how sure that is, and the
// query behind each table. Plots are SVG by gnuplot, set into the page. A benchmark is compared
// with an earlier one if asked, and written as CSV, JSON, JUnit XML and plain text as well.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/db/database.h"
#include "results/report/ci/outcomes.h"

namespace headcrash::report {

/// An earlier benchmark to compare with.
struct BaselineOptions {
  std::filesystem::path database;
  std::optional<std::int64_t> run;  ///< default: its newest benchmark
  double tolerance = 0.05;          ///< a change of less is none
};

struct ReportOptions {
  std::filesystem::path output;     ///< folder; made if missing. The page is output/report.html
  std::optional<std::int64_t> run;  ///< default: the newest
  // Of benchmarks only:
  std::optional<BaselineOptions> baseline;
  std::filesystem::path csv;  ///< folder for one CSV file a table; empty for none
};

struct ReportResult {
  std::filesystem::path page;
  std::int64_t run = 0, trials = 0;
  std::int64_t unexpected = 0;  ///< trials whose verdict is not what the adapter promises
  std::size_t regressions = 0;  ///< cells that became worse since the baseline
  std::size_t failed = 0;       ///< trials of a benchmark without a number
  std::string text;             ///< for the terminal; empty for experiments and surveys
  std::vector<CiCase> cases;    ///< of a benchmark or a campaign
  nlohmann::json summary;       ///< all of it
};

/// Errors: no such run, an empty database, a missing or failing gnuplot, a folder that cannot be
/// written, a baseline that cannot be read, an option that is for benchmarks only.
Result<ReportResult> write_report(db::Database& database, const ReportOptions& options);

struct Summary {
  nlohmann::json figures;  ///< for --json
  std::string status,
      systems;  ///< for the terminal: status line and notes; the table of the file systems
};

/// Returns the cases of a campaign. Fails if there is no such run.
Result<std::vector<CiCase>> report_cases(db::Database& database, std::optional<std::int64_t> run);

/// The figures of a campaign's page. Errors: no such run, an empty database.
Result<Summary> report_summary(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
