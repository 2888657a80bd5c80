#pragma once
// Conversion of SQLite errors to an Error with the file and a hint.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::db {

/// Returns the last error of `handle`. `doing` adds context where the code is not sufficient
/// ("recording trial x"); may be empty.
Error sqlite_error(sqlite3* handle, const std::string& doing = {});

/// Returns the error for a corrupt file; `detail` is the result of the check.
Error damaged(const std::filesystem::path& file, const std::string& detail);

}  // namespace headcrash::db
