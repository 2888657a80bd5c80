#pragma once
// A used disk holds old data: before the first event, it is full of an earlier user's bytes
// (media/prior_bytes.h). Sectors that have never been written still hold these bytes, and a trim
// changes nothing, so a file system cannot rely on zeroes. In a recording, the device's profile
// marks a used disk. A recording based on another recording inherits the mark.
//
// In an index, such sectors are "prior": their bytes are known but not stored in the recording.

#include <string_view>

#include "plugin/record/event.h"
#include "plugin/record/extent_index.h"

namespace headcrash::record {

inline constexpr std::string_view kUsedDiskProfile = "used disk";

inline bool is_used_disk(const RecordedDevice& device) {
  return device.medium && device.profile == kUsedDiskProfile;
}

/// Returns the location that stands for prior bytes. Code that does not handle prior bytes treats
/// this location as unknown, not as zeroes or an offset.
inline ExtentLocation prior_bytes() {
  return ExtentLocation::from_word(ExtentLocation::unrecorded().word() | 1ULL << 60);
}
inline bool is_prior(ExtentLocation where) {
  return where.unknown() && (where.word() & 1ULL << 60) != 0;
}

}  // namespace headcrash::record
