#pragma once
// Maps ranges of sectors to values. The memory used is proportional to the number of ranges, not to
// the number of sectors.

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace headcrash::explorer {

template <typename Value>
class RangeMap {
 public:
  /// Sets the value of a range. No part of the range may have a value: remove old values with
  /// each() first.
  void put(std::uint64_t lba, std::uint64_t count, Value value) {
    if (count > 0) ranges_.emplace(lba, Range{lba + count, std::move(value)});
  }

  /// Calls `visit(value, sectors)` for each part of [lba, lba + count) that is in the map, in
  /// ascending order. If `visit` returns false, removes this part from the map.
  template <typename Visit>
  void each(std::uint64_t lba, std::uint64_t count, Visit visit) {
    const std::uint64_t end = lba + count;
    split_at(lba);
    split_at(end);
    for (auto it = ranges_.lower_bound(lba); it != ranges_.end() && it->first < end;)
      it = visit(it->second.value, it->second.end - it->first) ? std::next(it) : ranges_.erase(it);
  }

  std::size_t ranges() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t end = 0;
    Value value;
  };
  void split_at(std::uint64_t lba) {
    auto it = ranges_.lower_bound(lba);
    if (it == ranges_.begin() || std::prev(it)->second.end <= lba) return;
    --it;
    ranges_.emplace(lba, Range{it->second.end, it->second.value});
    it->second.end = lba;
  }
  std::map<std::uint64_t, Range> ranges_;  // keyed by first sector; disjoint
};

}  // namespace headcrash::explorer
