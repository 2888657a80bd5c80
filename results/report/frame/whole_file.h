#pragma once
// Writes files atomically: each file exists completely or not at all.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

namespace headcrash::report {

/// Writes a temporary file next to the target, and renames it. Readers never see an incomplete
/// file, and if the write fails, the previous file is kept. The directory must exist.
Result<void> write_whole(const std::filesystem::path& path, const std::string& text);

/// Creates the directory if it does not exist. If this fails, the error has the hint `hint`.
Result<void> make_folder(const std::filesystem::path& folder, const std::string& hint);

}  // namespace headcrash::report
