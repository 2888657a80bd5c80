#pragma once
// A set of sectors, stored as disjoint ranges with gaps between them.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace headcrash::model {

class SectorRanges {
 public:
  bool empty() const { return ranges_.empty(); }

  void add(std::uint64_t lba, std::uint64_t count) {
    if (count == 0) return;
    std::uint64_t first = lba;
    std::uint64_t end = lba + count;
    auto it = ranges_.upper_bound(first);
    if (it != ranges_.begin() && std::prev(it)->second >= first) --it;
    while (it != ranges_.end() && it->first <= end) {
      first = std::min(first, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    ranges_.emplace(first, end);
  }

  void remove(std::uint64_t lba, std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t end = lba + count;
    auto it = ranges_.upper_bound(lba);
    if (it != ranges_.begin() && std::prev(it)->second > lba) --it;
    while (it != ranges_.end() && it->first < end) {
      const auto [first, last] = *it;
      it = ranges_.erase(it);
      if (first < lba) ranges_.emplace(first, lba);
      if (last > end) it = ranges_.emplace(end, last).first;
    }
  }

  /// Returns the lowest sector of the set in [lba, end).
  std::optional<std::uint64_t> first_in(std::uint64_t lba, std::uint64_t end) const {
    if (lba >= end) return std::nullopt;
    auto it = ranges_.upper_bound(lba);
    if (it != ranges_.begin() && std::prev(it)->second > lba) return lba;
    if (it == ranges_.end() || it->first >= end) return std::nullopt;
    return it->first;
  }

 private:
  /// Maps the first sector of each range to its end (exclusive).
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

}  // namespace headcrash::model
