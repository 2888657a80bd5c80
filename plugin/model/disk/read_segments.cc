// Segments of the drive's buffer, in LRU order:
//
//   |oldest|........|newest|          a new segment is added at the right; the leftmost is dropped
#include "plugin/model/disk/read_segments.h"

#include <algorithm>

namespace headcrash::model {

void ReadSegments::keep(std::uint64_t lbn, std::uint64_t end) {
  if (segments_ == 0 || segment_sectors_ == 0 || lbn >= end) return;
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->end == lbn) {
      lbn = it->begin;
      kept_.erase(it);
      break;
    }
  }
  kept_.push_back({std::max(lbn, end - std::min<std::uint64_t>(end, segment_sectors_)), end});
  if (kept_.size() > segments_) kept_.erase(kept_.begin());
}

bool ReadSegments::holds(std::uint64_t lbn, std::uint32_t sectors) {
  const auto it = std::find_if(kept_.begin(), kept_.end(), [lbn, sectors](const Range& range) {
    return range.begin <= lbn && lbn + sectors <= range.end;
  });
  if (it == kept_.end()) return false;
  std::rotate(it, it + 1, kept_.end());
  return true;
}

void ReadSegments::invalidate(std::uint64_t lbn, std::uint32_t sectors) {
  const std::uint64_t end = lbn + sectors;
  std::erase_if(kept_,
                [lbn, end](const Range& range) { return range.begin < end && lbn < range.end; });
}

}  // namespace headcrash::model
