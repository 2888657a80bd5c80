#pragma once
// Sizes as people write them, the forms of nbdkit: "4096", "512K", "300M", "1G", "2T" (also P and
// E; powers of 1024), and "8s" in sectors of 512 bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Bytes, at most 2^63 - 1. `subject` is named in the error.
Result<std::uint64_t> parse_size(std::string_view text, const std::string& subject);

}  // namespace headcrash::base
