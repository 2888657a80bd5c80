#pragma once
// Converts SQLite errors to Errors that name the file and suggest a remedy.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::db {

/// Returns `handle`'s last error. `doing` names the operation if the error code alone is not
/// sufficient ("recording trial x"); it may be empty.
Error sqlite_error(sqlite3* handle, const std::string& doing = {});

/// Returns the error for a corrupt file; `detail` is the result of the check.
Error damaged(const std::filesystem::path& file, const std::string& detail);

}  // namespace headcrash::db
