#pragma once
// Removes old artefacts, such as recordings and console logs. The rows of their trials stay.
//
// Paths in a database are untrusted. Only regular files below a directory `*.artefacts` in the
// database's directory are removed. Each directory in a path is opened without following links, and
// the file is removed by its name in the last opened directory. Any other path is reported, and its
// row is kept. Files are removed first, and then their rows in one transaction. If gc is
// interrupted, the next gc thus completes the removal.

#include <cstdint>
#include <string>
#include <vector>

#include "results/db/database.h"

namespace headcrash::db {

struct GcOptions {
  /// Minimum age of an artefact, counted from the start of its trial; 0 to remove all artefacts.
  std::int64_t older_than_days = 30;
  /// If true, keeps artefacts of trials that failed or that have a failed crash state.
  bool keep_failures = false;
  bool dry_run = false;  ///< only reports
  std::string now;       ///< current time, ISO 8601, UTC: "2026-03-14T09:26:53Z"
};

struct RefusedArtefact {
  std::string path, why;
};

struct GcOutcome {
  /// Number of rows that were removed. Their files, if any, were also removed.
  std::size_t removed = 0;
  std::size_t missing = 0;  ///< number of removed rows that had no file
  /// Number of artefacts that were kept because they are recent or belong to a failure.
  std::size_t kept = 0;
  std::int64_t bytes = 0;  ///< total size of the removed files
  std::vector<RefusedArtefact> refused;
};

/// Removes artefacts. The database must be open for writing, except for a dry run. Fails if the
/// database fails or if the date is invalid.
Result<GcOutcome> collect_garbage(Database& database, const GcOptions& options);

}  // namespace headcrash::db
