#pragma once
// Selects the failures of a run that get their own page (crash_page.h), and names these pages.
// harness/cli/failure_pages.h creates the pages next to the run's report. The report's cards link
// only to pages that exist.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct FailurePage {
  std::int64_t trial = 0;  ///< ID of the trial
  /// Name of the minimised state; empty for a trial with a single cut.
  std::string state;
  std::string file;       ///< file name in the report's directory
  std::string command;    ///< command that reproduces the state
  bool recorded = false;  ///< the recording of the trial has been kept
};

/// Returns the failures that get a page, up to the report's limit: first one failure from each
/// card, then a second one from each card, and so on. Returns an empty list for a run that is not a
/// campaign. `folder` is the report's directory. Fails if there is no such run.
Result<std::vector<FailurePage>> failure_pages(db::Database& database,
                                               std::optional<std::int64_t> run,
                                               const std::filesystem::path& folder);

}  // namespace headcrash::report
