#pragma once
// The range check that all stores share: a range must consist of whole sectors and be inside the
// medium.

#include <fmt/core.h>

#include <string>

#include "plugin/model/core/store.h"

namespace headcrash::media {

inline Result<void> check_range(const std::string& subject, std::uint64_t sectors,
                                std::uint64_t lba, std::uint64_t bytes) {
  const std::uint64_t count = bytes / model::kSectorBytes;
  if (bytes % model::kSectorBytes == 0 && lba <= sectors && count <= sectors - lba) return {};
  return fail(subject, fmt::format("{} bytes at sector {} exceed a medium of {} sectors", bytes,
                                   lba, sectors));
}

}  // namespace headcrash::media
