#pragma once
// The write-intent map: one bit for each region of an array's data that may have inconsistent
// parity after a power cut. A bit is stored on the members before the first write to its region.
// All bits are cleared when the whole array has been idle for some time. If the array is in use,
// the bit of a single region is cleared when the region has been idle for a longer time:
//
//   first write -> bit on members | more writes ... last one ends | age passes | flush | clear bit
//                                                                  a write keeps the bit
//
// The flush is needed for members with volatile caches, which may still hold completed writes.
//
// The map is written in pages of 8 sectors. A torn page is harmless: a write does not begin before
// its bit has been stored, and a bit that is being removed is no longer needed.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "plugin/base/invariant.h"
#include "plugin/model/core/simulation.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

class DirtyRegions {
 public:
  static constexpr std::uint32_t kPageSectors = 8;
  static constexpr std::size_t kPageBytes = std::size_t{kPageSectors} * kSectorBytes;

  void open(std::uint64_t bitmap_sectors, std::uint32_t region_sectors) {
    bits_.assign(bitmap_sectors * kSectorBytes, std::byte{0});
    region_sectors_ = region_sectors;
    changed_.clear();
    uses_.clear();
  }
  /// Begins a write to the data sectors [first, last]. Returns true if pages of the map must be
  /// written before the data.
  bool begin(std::uint64_t first, std::uint64_t last) {
    bool any = false;
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      ++uses_[r].inside;
      if (marked(r)) continue;
      bits_[r / 8] |= std::byte(1U << (r % 8));
      changed_.insert(r / 8 / kPageBytes);
      any = true;
    }
    return any;
  }
  /// Ends a write after its data has reached the members or their caches. REQUIRES: called exactly
  /// once for each begin(), with the same sectors.
  void end(std::uint64_t first, std::uint64_t last, TimeNs now) {
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      RegionUse& use = uses_[r];
      invariant(use.inside > 0, "each end of a write must match its beginning");
      --use.inside;
      use.ended_at = now;
    }
  }
  /// Returns the regions that have no writes in flight and whose last write ended no later than
  /// `then`. The result maps each region to the time at which its last write ended.
  std::map<std::uint64_t, TimeNs> unused_since(TimeNs then) const {
    std::map<std::uint64_t, TimeNs> unused;
    for (const auto& [region, use] : uses_) {
      if (use.inside == 0 && use.ended_at <= then)
        unused.emplace_hint(unused.end(), region, use.ended_at);
    }
    return unused;
  }
  /// Clears the bits of unused regions. `unused` maps each region to the time at which its last
  /// write ended. Skips regions that have been written to since that time.
  void forget(const std::map<std::uint64_t, TimeNs>& unused) {
    for (const auto& [region, ended_at] : unused) {
      const auto use = uses_.find(region);
      if (use == uses_.end() || use->second.inside > 0 || use->second.ended_at != ended_at)
        continue;
      uses_.erase(use);
      bits_[region / 8] &= ~std::byte(1U << (region % 8));
      changed_.insert(region / 8 / kPageBytes);
    }
  }
  /// Drops all writes in flight, after a power cut.
  void forget_writes() { uses_.clear(); }
  /// For each region whose bit was found on the members, sets the time of the last write to `now`,
  /// so that the bit is cleared later. REQUIRES: parity is consistent everywhere.
  void adopt_bits(TimeNs now) {
    for (std::uint64_t r = 0; r < bits_.size() * 8; ++r) {
      if (marked(r)) uses_.try_emplace(r, RegionUse{0, now});
    }
  }
  /// Returns true if each region of these data sectors is marked and has a write in flight.
  bool written(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      const auto use = uses_.find(r);
      if (use == uses_.end() || use->second.inside == 0 || !marked(r)) return false;
    }
    return true;
  }
  bool in_use() const { return !uses_.empty(); }
  bool any_marked(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t r = first / region_sectors_; r <= last / region_sectors_; ++r) {
      if (marked(r)) return true;
    }
    return false;
  }
  /// Clears all bits. REQUIRES: there are no writes in flight.
  void clear() {
    for (const auto& [region, use] : uses_)
      invariant(use.inside == 0, "no write may be in flight when regions are cleared");
    uses_.clear();
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i] != std::byte{0}) changed_.insert(i / kPageBytes);
      bits_[i] = std::byte{0};
    }
  }
  /// Adds the bits stored on a member. If a member's map is unreadable, call mark_all() instead.
  void merge(std::size_t offset, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bits_[offset + i] |= bytes[i];
  }
  void mark_all() { std::fill(bits_.begin(), bits_.end(), std::byte{0xff}); }

  std::set<std::uint64_t>& changed_pages() { return changed_; }
  std::span<const std::byte> page(std::uint64_t index) const {
    return std::span(bits_).subspan(index * kPageBytes, kPageBytes);
  }

 private:
  struct RegionUse {
    std::uint32_t inside = 0;  ///< number of writes in flight
    TimeNs ended_at = 0;       ///< time at which the last write ended
  };
  bool marked(std::uint64_t region) const {
    return (bits_[region / 8] & std::byte(1U << (region % 8))) != std::byte{0};
  }
  std::vector<std::byte> bits_;
  std::uint32_t region_sectors_ = 1;
  std::set<std::uint64_t> changed_;
  /// Regions that have been written to since their bits were last cleared.
  std::map<std::uint64_t, RegionUse> uses_;
};

}  // namespace headcrash::model
