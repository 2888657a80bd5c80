#pragma once
// The segments of the drive's buffer, except the one that read-ahead uses.

#include <cstdint>
#include <vector>

namespace headcrash::model {

/// Ranges of sectors in LRU order. Only positions are stored. The bytes of a hit come from the
/// medium or the write cache. They are up to date, because every write drops the ranges that it
/// overlaps.
class ReadSegments {
 public:
  /// `segments` is the maximum number of ranges (may be 0), and `segment_sectors` the maximum
  /// length of each.
  ReadSegments(std::uint32_t segments, std::uint32_t segment_sectors)
      : segments_(segments), segment_sectors_(segment_sectors) {}

  /// Keeps the range [lbn, end). If a segment holds a range that ends at `lbn`, the two ranges are
  /// joined. If the range is longer than a segment, only its last sectors are kept.
  void keep(std::uint64_t lbn, std::uint64_t end);
  /// Returns true if one segment contains the whole range, and marks that segment as recently used.
  bool holds(std::uint64_t lbn, std::uint32_t sectors);
  /// Drops these sectors, because a write has overwritten them.
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
