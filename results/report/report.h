#pragma once
// One self-contained HTML file from a results database: what happened, how sure that is, and the query behind
// each table. Plots are SVG by gnuplot, set into the page.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "results/db/database.h"

namespace headcrash::report {

struct ReportOptions {
  std::filesystem::path output;     ///< folder; made if missing. The page is output/report.html
  std::optional<std::int64_t> run;  ///< default: the newest
};

struct ReportResult {
  std::filesystem::path page;
  std::int64_t run = 0, trials = 0;
  std::int64_t unexpected = 0;  ///< trials whose verdict is not what the adapter promises
};

/// Errors: no such run, an empty database, a missing or failing gnuplot, a folder that cannot be written.
Result<ReportResult> write_report(db::Database& database, const ReportOptions& options);

/// The same figures and sentences for `headcrash report --json`.
Result<nlohmann::json> report_summary(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
