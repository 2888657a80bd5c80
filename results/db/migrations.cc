#include "results/db/migrations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "headcrash_db_embedded.h"
#include "results/db/sqlite_error.h"
#include "results/db/statement.h"

namespace headcrash::db {
namespace {

/// Returns the first finding of quick_check, or an empty text if there are no findings. quick_check
/// reads every page but not every index entry, so it is fast enough to run at each start.
Result<std::string> quick_check(sqlite3* handle) {
  TRY(auto check, Statement::prepare(handle, "PRAGMA quick_check(1)"));
  TRY(const auto row, check.step());
  const std::string verdict = row ? check.text(0) : "";
  return verdict == "ok" ? std::string{} : verdict;
}

}  // namespace

std::vector<Migration> known_migrations() {
  std::vector<Migration> migrations;
  for (const auto& file : embedded_files()) {
    int version = 0;
    std::from_chars(file.name.data(), file.name.data() + file.name.size(), version);
    migrations.push_back({version, std::string(file.text)});
  }
  std::ranges::sort(migrations, {}, &Migration::version);
  return migrations;
}

Result<FileState> inspect(sqlite3* handle, const std::filesystem::path& path, int newest) {
  // Reads everything with a single statement, which sees a single snapshot. Several statements
  // might see different states, because another process may be creating the file.
  TRY(auto look, Statement::prepare(handle,
                                    "SELECT (SELECT application_id FROM pragma_application_id), "
                                    "(SELECT user_version FROM pragma_user_version), "
                                    "(SELECT count(*) FROM sqlite_schema)"));
  TRY(look.step());
  const std::int64_t application = look.integer(0), version = look.integer(1),
                     objects = look.integer(2);
  TRY(look.step());

  if (application == 0 && version == 0 && objects == 0) return FileState::fresh;
  if (application != kApplicationId) {
    return fail(path.string(), "belongs to another program",
                "use another file; this file is unchanged");
  }
  if (version > newest) {
    return fail(
        path.string(),
        fmt::format("was written by a newer headcrash (schema {}, this version supports {})",
                    version, newest),
        "use the newer headcrash (the file is unchanged)");
  }
  TRY(const auto finding, quick_check(handle));
  if (!finding.empty()) return tl::unexpected(damaged(path, finding));
  return version < newest ? FileState::older : FileState::current;
}

Result<void> migrate(sqlite3* handle, const std::filesystem::path& path,
                     const std::vector<Migration>& migrations) {
  for (const auto& migration : migrations) {
    TRY(auto transaction, Transaction::begin(handle));
    TRY(const auto version, query_integer(handle, "PRAGMA user_version"));
    if (version >= migration.version) continue;
    auto applied = execute(handle, migration.sql);
    if (applied) {
      applied = execute(handle, fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                            kApplicationId, migration.version));
    }
    if (applied) applied = transaction.commit();
    if (!applied) {
      return fail(
          path.string(),
          fmt::format("migration {:04} failed: {}", migration.version, applied.error().problem),
          applied.error().hint.empty() ? fmt::format("the file is still at schema {}", version)
                                       : applied.error().hint);
    }
  }
  return {};
}

}  // namespace headcrash::db
