#pragma once
// Text files as a whole: configuration files come into memory up to a bounded size; what a command
// writes for its user is on disk, or the command says why not.

#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Errors: a path that cannot be read (a folder, too), or more than 1 MiB behind it (a device, an
/// image).
Result<std::string> read_text_file(const std::string& path);

/// Makes the file or replaces its contents. Errors: those of opening, writing and closing it, with
/// the reason.
Result<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace headcrash::base
