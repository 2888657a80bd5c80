#pragma once
// Files that are there whole or not at all.

#include <filesystem>
#include <string>

#include "plugin/base/result.h"

namespace headcrash::report {

/// Written beside its place and then renamed: a reader never sees half of it, and a failure leaves
/// what was there before. The folder must exist.
Result<void> write_whole(const std::filesystem::path& path, const std::string& text);

/// The folder, made if missing. `hint` is what the user can do.
Result<void> make_folder(const std::filesystem::path& folder, const std::string& hint);

}  // namespace headcrash::report
