#pragma once
// What the drive's buffer still holds of earlier commands, besides the segment that is being read
// ahead into.

#include <cstdint>
#include <vector>

namespace headcrash::model {

/// Ranges of sectors, the least recently used one given up first. Positions only: the bytes of a
/// hit come from the medium or the cache, which is the same, since every write drops what it
/// touches here.
class ReadSegments {
 public:
  /// How many ranges are kept, and how long each can be; 0: none.
  ReadSegments(std::uint32_t segments, std::uint32_t segment_sectors)
      : segments_(segments), segment_sectors_(segment_sectors) {}

  /// Keeps [lbn, end), or the rear of it when it is longer than a segment. Continues in a range
  /// that ends where this one begins.
  void keep(std::uint64_t lbn, std::uint64_t end);
  /// All of the range lies in one segment; it then counts as used.
  bool holds(std::uint64_t lbn, std::uint32_t sectors);
  /// Drops what a write has made old.
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
