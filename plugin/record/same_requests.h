#pragma once
// Compares the host's requests in two recordings.

#include <filesystem>

#include "plugin/base/result.h"

namespace headcrash::record {

/// Returns true if both recordings have the same marks, writes (with their bytes), trims and
/// flushes, in the same order. Times, reads and acknowledgements may differ. Fails if a recording
/// cannot be read.
Result<bool> same_requests(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace headcrash::record
