#pragma once
// Tracks which parts of a device have ever been written, with one bit per granule. A bit is set
// before its write is submitted and is never cleared. Unwritten granules always read as zeroes, so
// they can be reported as holes, even if caches, torn writes or rebuilt members hold other data. No
// lock is needed, because bits are only ever set.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace headcrash::media {

class WrittenMap {
 public:
  static constexpr std::uint64_t kGranuleSectorsMin = 128;   ///< 64 KiB
  static constexpr std::uint64_t kGranulesMax = 1ULL << 22;  ///< limits the bitmap to 512 KiB

  explicit WrittenMap(std::uint64_t sectors)
      : sectors_(sectors),
        granule_(std::max(kGranuleSectorsMin,
                          std::bit_ceil((sectors + kGranulesMax - 1) / kGranulesMax))),
        words_((sectors / granule_ + 64) / 64) {}

  void mark(std::uint64_t lba, std::uint64_t count) {
    if (count == 0 || lba >= sectors_) return;
    const std::uint64_t last = (lba + std::min(count, sectors_ - lba) - 1) / granule_;
    for (std::uint64_t g = lba / granule_; g <= last; ++g) {
      auto& word = words_[g / 64];
      const std::uint64_t bit = std::uint64_t{1} << (g % 64);
      if ((word.load(std::memory_order_relaxed) & bit) == 0)
        word.fetch_or(bit, std::memory_order_relaxed);
    }
  }

  struct Run {
    std::uint64_t sectors = 0;
    bool written = true;
    /// True if unwritten sectors read as zeroes, false if they hold prior contents.
    bool or_zeroes = true;
  };
  /// Returns the run that begins at `lba`, truncated to `limit` sectors. REQUIRES: `limit` is at
  /// least 1, and all `limit` sectors are inside the device.
  Run run(std::uint64_t lba, std::uint64_t limit) const {
    const std::uint64_t end = lba + limit;
    const bool first = written(lba / granule_);
    std::uint64_t at = (lba / granule_ + 1) * granule_;
    while (at < end && written(at / granule_) == first) at += granule_;
    return {.sectors = std::min(at, end) - lba, .written = first};
  }

 private:
  bool written(std::uint64_t g) const {
    return ((words_[g / 64].load(std::memory_order_relaxed) >> (g % 64)) & 1) != 0;
  }
  std::uint64_t sectors_;
  std::uint64_t granule_;
  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace headcrash::media
