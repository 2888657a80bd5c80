#pragma once
// The survey unsynced-loss as a page, as text and as JSON: for each file system and setting how old
// what its cuts lost was, and what share of the changes of an age was lost.

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
  bool valid = true;  ///< the controls, which sync before the cut, have lost nothing
};

/// Whether the run (none: the newest) is one of this survey.
Result<bool> is_unsynced(db::Database& database, std::optional<std::int64_t> run);

/// Errors: gnuplot's, the database's.
Result<UnsyncedReport> unsynced_report(db::Database& database, std::optional<std::int64_t> run);

}  // namespace headcrash::report
