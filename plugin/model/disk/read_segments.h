#pragma once
// The segments of the drive's buffer, apart from the one used for read-ahead.

#include <cstdint>
#include <vector>

namespace headcrash::model {

/// Ranges of sectors in LRU order. They hold positions only: the bytes of a hit come from the
/// medium or the cache, which is equivalent because every write drops the ranges it touches.
class ReadSegments {
 public:
  /// `segments` is the number of ranges, `segment_sectors` the maximum length of each; 0: none.
  ReadSegments(std::uint32_t segments, std::uint32_t segment_sectors)
      : segments_(segments), segment_sectors_(segment_sectors) {}

  /// Keeps [lbn, end), or its tail if longer than a segment. Extends a range that ends where this
  /// one begins.
  void keep(std::uint64_t lbn, std::uint64_t end);
  /// Returns true if one segment holds the whole range, and marks it as used.
  bool holds(std::uint64_t lbn, std::uint32_t sectors);
  /// Drops sectors overwritten by a write.
  void invalidate(std::uint64_t lbn, std::uint32_t sectors);
  void clear() { kept_.clear(); }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  std::uint32_t segments_;
  std::uint32_t segment_sectors_;
  std::vector<Range> kept_;  ///< most recently used last
};

}  // namespace headcrash::model
