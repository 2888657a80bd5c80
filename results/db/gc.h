#pragma once
// Removes old artefacts, such as recordings and consoles. The rows of their trials stay.
//
// Paths in a database are untrusted. Only regular files below a folder `*.artefacts` in the
// database's folder are removed. Each folder in a path is opened without following links, and the
// file is removed by name in the last opened folder. Any other path is reported, and its row is
// kept. Files are removed first, then their rows in one transaction, so the next gc completes an
// interrupted one.

#include <cstdint>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::db {

struct GcOptions {
  std::int64_t older_than_days = 30;  ///< age, measured from the start of the trial; 0 for all
  /// Keeps artefacts of trials that failed or that have a failed crash state.
  bool keep_failures = false;
  bool dry_run = false;  ///< only reports
  std::string now;       ///< ISO 8601, UTC: "2026-03-14T09:26:53Z"
};

struct RefusedArtefact {
  std::string path, why;
};

struct GcOutcome {
  std::size_t removed = 0;  ///< number of removed rows; their files are removed if present
  std::size_t missing = 0;  ///< number of removed rows that had no file
  /// Number of artefacts kept because they are recent or belong to a failure.
  std::size_t kept = 0;
  std::int64_t bytes = 0;  ///< total size of the removed files
  std::vector<RefusedArtefact> refused;
};

/// Removes artefacts. The database must be open for writing unless it is a dry run. Fails with
/// errors of the database, or for an invalid date.
Result<GcOutcome> collect_garbage(Database& database, const GcOptions& options);

}  // namespace headcrash::db
