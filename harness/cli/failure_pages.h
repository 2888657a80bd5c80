#pragma once
// Writes a page for each failure of a campaign, next to the campaign's report. Used by `campaign
// --html` and `report --html`.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "results/db/database.h"

namespace headcrash::cli {

struct FailurePages {
  std::size_t made = 0;
  /// Number of failures that have no page because their recording was not kept or is missing.
  std::size_t without_recording = 0;
  bool interrupted = false;
};

/// Writes a page (crash_file.h) for each failure in the report. Omits failures whose recording no
/// longer exists. The verdicts come from the database, so no guest is started. Existing pages are
/// replaced. Reports that are written later link to the pages. Fails if a recording cannot be read
/// or if the directory is not writable.
Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const std::filesystem::path& folder);

/// Prints the number of pages written, and their directory, to standard error. Prints nothing if
/// there were no failures.
void tell(const FailurePages& pages, const std::filesystem::path& folder);

}  // namespace headcrash::cli
