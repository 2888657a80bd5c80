#pragma once
// Sizes as people write them: "4096", "512K", "300M", "1G", "2T" (powers of 1024, as nbdkit and QEMU read
// them).

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::base {

/// Bytes. `subject` is named in the error.
Result<std::uint64_t> parse_size(std::string_view text, const std::string& subject);

}  // namespace headcrash::base
