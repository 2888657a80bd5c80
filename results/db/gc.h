#pragma once
// Removes artefacts that nobody will look at any more: recordings, consoles. What is known of their
// trials stays.
//
// A path in a database is somebody's word. Nothing is touched but regular files below a folder
// `*.artefacts` below the database's own: each step of the path is opened without following links,
// the last one is removed by name in the folder that was opened, and what does not fit is refused
// and told, its row left as it is. Files go first and their rows in one transaction after them, so
// that a gc that was interrupted is finished by the next one.

#include <cstdint>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::db {

struct GcOptions {
  std::int64_t older_than_days = 30;  ///< by the start of the trial; 0 for all
  bool keep_failures = false;  ///< those of trials that failed, or of which a crash state did
  bool dry_run = false;        ///< only tells
  std::string now;             ///< ISO 8601, UTC: "2026-03-14T09:26:53Z"
};

struct RefusedArtefact {
  std::string path, why;
};

struct GcOutcome {
  std::size_t removed = 0;  ///< artefacts: their rows, and their files where they were there
  std::size_t missing = 0;  ///< of them, those without a file
  std::size_t kept = 0;     ///< too young, or of failures
  std::int64_t bytes = 0;   ///< of the files that were removed
  std::vector<RefusedArtefact> refused;
};

/// The database must be open for writing unless it is a dry run. Errors: the database's own, a date
/// that is none.
Result<GcOutcome> collect_garbage(Database& database, const GcOptions& options);

}  // namespace headcrash::db
