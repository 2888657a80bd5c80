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

/// Writes one page (crash_file.h) for each failure in the report whose recording exists. The
/// verdicts come from the database, so no guest is started. A report that is written afterwards
/// links to the pages. Replaces existing pages. Fails if a recording cannot be read or the folder
/// is not writable.
Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const std::filesystem::path& folder);

/// Prints the number of pages to standard error. Prints nothing if there were no failures.
void tell(const FailurePages& pages, const std::filesystem::path& folder);

}  // namespace headcrash::cli
