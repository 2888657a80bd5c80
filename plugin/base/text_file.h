#pragma once
// Reads and writes whole text files.

#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Reads a text file. Fails if it is larger than 1 MiB (a device, an image) or cannot be read (a
/// directory).
Result<std::string> read_text_file(const std::string& path);

/// Creates the file or replaces its contents. Returns any error from opening, writing or closing
/// it.
Result<void> write_text_file(const std::string& path, std::string_view text);

/// Like write_text_file(), and makes the file executable if the file system supports permissions.
Result<void> write_script(const std::string& path, std::string_view text);

}  // namespace headcrash::base
