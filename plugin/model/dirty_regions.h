#pragma once
// The write-intent map: one bit for each region of an array's data that may have wrong parity after a power
// cut. A bit is on the members before the first write to its region; bits are cleared when the array has been
// idle. (Solstice and md clear them by age too. Here an array that is never quiet for kArrayIdleCleanNs keeps
// all bits since it last was: its resync takes longer, up to a whole one. Clearing by age would need, for
// each region, the writes under way in it and a flush between the last of them and the bit.)
//
// The map is written in pages of 8 sectors. A torn page is harmless: bits are only added while they matter,
// and a write waits until its bit is there.

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "plugin/model/store.h"

namespace headcrash::model {

class DirtyRegions {
 public:
  static constexpr std::uint32_t kPageSectors = 8;
  static constexpr std::size_t kPageBytes = std::size_t{kPageSectors} * kSectorBytes;

  void open(std::uint64_t bitmap_sectors, std::uint32_t region_sectors) {
    bits_.assign(bitmap_sectors * kSectorBytes, std::byte{0});
    region_sectors_ = region_sectors;
    changed_.clear();
  }
  /// Marks the data sectors [first, last]; true when a page has to be written first.
  bool mark(std::uint64_t first, std::uint64_t last) {
    bool any = false;
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      if (marked(r)) continue;
      bits_[r / 8] |= std::byte(1U << (r % 8));
      changed_.insert(r / 8 / kPageBytes);
      any = true;
    }
    return any;
  }
  bool any_marked(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      if (marked(r)) return true;
    }
    return false;
  }
  void clear() {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i] != std::byte{0}) changed_.insert(i / kPageBytes);
      bits_[i] = std::byte{0};
    }
  }
  /// Adds what a member says; unreadable maps mark everything.
  void merge(std::size_t offset, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bits_[offset + i] |= bytes[i];
  }
  void mark_all() { std::fill(bits_.begin(), bits_.end(), std::byte{0xff}); }

  std::set<std::uint64_t>& changed_pages() { return changed_; }
  std::span<const std::byte> page(std::uint64_t index) const {
    return std::span(bits_).subspan(index * kPageBytes, kPageBytes);
  }

 private:
  bool marked(std::uint64_t region) const {
    return (bits_[region / 8] & std::byte(1U << (region % 8))) != std::byte{0};
  }
  std::vector<std::byte> bits_;
  std::uint32_t region_sectors_ = 1;
  std::set<std::uint64_t> changed_;
};

}  // namespace headcrash::model
