#pragma once
// The failures of a campaign as pages beside its report: --html of `campaign` and of `report`.

#include <cstddef>
#include <filesystem>
#include <optional>

#include "results/db/database.h"

namespace headcrash::cli {

struct FailurePages {
  std::size_t made = 0;
  std::size_t without_recording = 0;  ///< the trial's recording was not kept, or is gone
  bool interrupted = false;
};

/// One page (crash_file.h) for each failure that the report lists and whose recording is there, of
/// the verdict that the database has: no guest is started. The report that is written afterwards
/// links to them. Replaces earlier ones. Errors: a recording that cannot be read, a folder that
/// cannot be written.
Result<FailurePages> write_failure_pages(db::Database& database, std::optional<std::int64_t> run,
                                         const std::filesystem::path& folder);

/// On stderr, if there was anything to make.
void tell(const FailurePages& pages, const std::filesystem::path& folder);

}  // namespace headcrash::cli
