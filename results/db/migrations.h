#pragma once
// The schema's history: numbered .sql files, which are applied in order. Each file is applied in a
// separate transaction that also sets PRAGMA user_version. A database therefore always has exactly
// one version, even after an interruption.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::db {

/// The application id "hcr1" in the file header. It identifies a results database.
inline constexpr std::int64_t kApplicationId = 0x68637231;

struct Migration {
  int version = 0;  ///< version of the file after the migration
  std::string sql;
};

/// Returns the embedded migrations in order, beginning with 0001.sql.
std::vector<Migration> known_migrations();

enum class FileState { fresh, older, current };
/// Determines a file's version and state without changing it. Fails if the file is not a database,
/// belongs to another program, is damaged, or was made by a newer headcrash.
Result<FileState> inspect(sqlite3* handle, const std::filesystem::path& path, int newest);

/// Migrates the file to the newest version. Because another process may be doing the same, the
/// version is read again under the write lock.
Result<void> migrate(sqlite3* handle, const std::filesystem::path& path,
                     const std::vector<Migration>& migrations);

}  // namespace headcrash::db
