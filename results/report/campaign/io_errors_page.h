#pragma once
// The io-errors survey as a page, as text and as JSON: one table with all cells, and a list of
// operations for each cell with an unexpected result.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/db/database.h"

namespace headcrash::report {

struct IoErrorsReport {
  std::string html, text;
  nlohmann::json summary;
  std::int64_t run = 0, cells = 0, not_measured = 0;
  bool valid = true;  ///< true if the controls behaved as expected and every fault occurred
};

/// Returns true if the run (default: the newest) is a survey of I/O errors.
Result<bool> is_io_errors(db::Database& database, std::optional<std::int64_t> run);

Result<IoErrorsReport> io_errors_report(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
