#pragma once
// The schema's history: numbered .sql files, applied in order, each in a transaction of its own
// together with the new PRAGMA user_version. A file is therefore always at exactly one version,
// whatever interrupts a migration.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::db {

/// "hcr1" in the file header tells a results database from anybody else's SQLite file.
inline constexpr std::int64_t kApplicationId = 0x68637231;

struct Migration {
  int version = 0;  ///< what the file is at afterwards
  std::string sql;
};

/// The embedded files, "0001.sql" first.
std::vector<Migration> known_migrations();

enum class FileState { fresh, older, current };
/// Whose file is this? Only reads. Errors: not a database, another program's, damaged, made by a
/// newer headcrash.
Result<FileState> inspect(sqlite3* handle, const std::filesystem::path& path, int newest);

/// Brings the file to the newest of `migrations`. Another process may be doing the same: the
/// version is read again under the write lock.
Result<void> migrate(sqlite3* handle, const std::filesystem::path& path,
                     const std::vector<Migration>& migrations);

}  // namespace headcrash::db
