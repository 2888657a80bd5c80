#pragma once
// The requests of a recording that the first device answered with an error while it had power.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::campaign {

struct FailedRequests {
  std::size_t count = 0;
  std::string first;  ///< "write of 4096+8: journal commit block of transaction 7", "flush"
};

/// `type` is the file system's, of mount(2). Errors: a recording that cannot be read.
Result<FailedRequests> failed_requests(const std::filesystem::path& recording,
                                       std::string_view type);

}  // namespace headcrash::campaign
