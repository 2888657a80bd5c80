#pragma once
// The requests of a recording that the first device failed while it had power.

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

/// Finds the failed requests. `type` is the file system's type of mount(2). Fails if the recording
/// cannot be read.
Result<FailedRequests> failed_requests(const std::filesystem::path& recording,
                                       std::string_view type);

}  // namespace headcrash::campaign
