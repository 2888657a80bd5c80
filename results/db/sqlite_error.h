#pragma once
// Converts SQLite errors to Errors that name the file and suggest a remedy.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::db {

/// Returns the last error of `handle`. `doing` names the operation ("recording trial x") if the
/// error code alone does not explain the error; otherwise, it is empty.
Error sqlite_error(sqlite3* handle, const std::string& doing = {});

/// Returns the error for a corrupt database file. `detail` is the result of the integrity check.
Error damaged(const std::filesystem::path& file, const std::string& detail);

}  // namespace headcrash::db
