#pragma once
// Which failures of a run have a page of their own (crash_page.h) beside its report, and what the
// pages are called: the cards link to files of these names that are there. Who makes them:
// harness/cli/failure_pages.h.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::report {

struct FailurePage {
  std::int64_t trial = 0;  ///< its id
  std::string state;       ///< with the fewest lost writes; empty: the cut of a trial of one cut
  std::string file;        ///< beside the report
  std::string command;     ///< that shows it again
  bool recorded = false;   ///< the recording of the trial was kept
};

/// The first failure of each card, then the second, and so on, as far as the report lists them. Of
/// a run that is not a campaign: none. `folder`: of the report. Errors: no such run.
Result<std::vector<FailurePage>> failure_pages(db::Database& database,
                                               std::optional<std::int64_t> run,
                                               const std::filesystem::path& folder);

}  // namespace headcrash::report
