#pragma once
// Reads and writes whole text files.

#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Reads a file of at most 1 MiB. Fails if the file is larger (a device, an image) or cannot be
/// read (a folder).
Result<std::string> read_text_file(const std::string& path);

/// Creates the file or replaces its contents. Returns errors from opening, writing and closing it.
Result<void> write_text_file(const std::string& path, std::string_view text);

/// Like write_text_file(), and makes the file executable where the file system has permissions.
Result<void> write_script(const std::string& path, std::string_view text);

}  // namespace headcrash::base
