#pragma once
// How every configuration file comes into memory: whole, and never more than a bounded amount of it.

#include <string>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Errors: a path that cannot be read (a folder, too), or more than 1 MiB behind it (a device, an image).
Result<std::string> read_text_file(const std::string& path);

}  // namespace headcrash::base
