#pragma once
// A used disk: one that was full of an earlier user's bytes (media/prior_bytes.h) before the
// recording's first event. What was never written still holds them, and a trim leaves everything as
// it was: a file system may count on neither being zeroes. A recording says so by the profile of
// the device; recordings that stand on it have the same device, and take it over.
//
// In an index such sectors are written "prior": bytes that are not in the recording, but known.

#include <string_view>

#include "plugin/record/event.h"
#include "plugin/record/extent_index.h"

namespace headcrash::record {

inline constexpr std::string_view kUsedDiskProfile = "used disk";

inline bool is_used_disk(const RecordedDevice& device) {
  return device.medium && device.profile == kUsedDiskProfile;
}

/// Neither zeroes nor an offset for whoever does not know of it.
inline ExtentLocation prior_bytes() {
  return ExtentLocation::from_word(ExtentLocation::unrecorded().word() | 1ULL << 60);
}
inline bool is_prior(ExtentLocation where) {
  return where.unknown() && (where.word() & 1ULL << 60) != 0;
}

}  // namespace headcrash::record
