#pragma once
// The unsynced-loss survey as a page, as text and as JSON. It reports the age of lost changes for
// each file system and setting, and the fraction of changes lost at each age.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "results/db/database.h"

namespace headcrash::report {

struct UnsyncedReport {
  std::string html, text;
  nlohmann::json summary;
  std::int64_t run = 0, cells = 0, not_measured = 0;
  bool valid = true;  ///< true if the controls, which sync before the cut, lost nothing
};

/// Returns true if the run (default: the newest) is an unsynced-loss survey.
Result<bool> is_unsynced(db::Database& database, std::optional<std::int64_t> run);

/// Creates the report. Fails if gnuplot or the database fails.
Result<UnsyncedReport> unsynced_report(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
