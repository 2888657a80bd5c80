#pragma once
// What SQLite said, as an Error that names the file and what the user can do about it.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

struct sqlite3;

namespace headcrash::db {

/// The last failure of `handle`. `doing` completes the sentence where the code alone says too
/// little ("recording trial x"); may be empty.
Error sqlite_error(sqlite3* handle, const std::string& doing = {});

/// A file whose pages contradict each other; `detail` is what the check found.
Error damaged(const std::filesystem::path& file, const std::string& detail);

}  // namespace headcrash::db
