#pragma once
// Writes the failures of a campaign as pages next to its report, for --html of `campaign` and
// `report`.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "results/db/database.h"

namespace headcrash::cli {

struct FailurePages {
  std::size_t made = 0;
  std::size_t without_recording = 0;  ///< the trial's recording was not kept or is missing
  bool interrupted = false;
};

/// Writes one page (crash_file.h) for each failure in the report whose recording exists, with the
/// verdict from the database; starts no guest. A report written afterwards links to them. Replaces
/// existing pages. Fails if a recording cannot be read or the folder cannot be written.
Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const std::filesystem::path& folder);

/// Reports on stderr if there were pages to write.
void tell(const FailurePages& pages, const std::filesystem::path& folder);

}  // namespace headcrash::cli
