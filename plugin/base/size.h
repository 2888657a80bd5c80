#pragma once
// Sizes in text form, as in nbdkit: "4096", "512K", "300M", "1G", "2T" (also P and E; powers of
// 1024), and "8s" for sectors of 512 bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Returns a number of bytes, at most 2^63 - 1. The error names `subject`.
Result<std::uint64_t> parse_size(std::string_view text, const std::string& subject);

}  // namespace headcrash::base
