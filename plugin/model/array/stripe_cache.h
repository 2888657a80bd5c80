#pragma once
// The controller's cache of recently used stripes. For each role, it keeps the rows that were last
// read or written, so that the next small write to the same stripe needs fewer reads or none.
// Replacement is LRU. The cache is in the controller's memory, so it is lost in a power cut.

#include <cstring>
#include <list>
#include <unordered_map>
#include <vector>

#include "plugin/model/array/stripe_plan.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

class StripeCache {
 public:
  void open(std::uint32_t stripes_max, std::uint32_t roles, std::uint32_t unit_sectors,
            bool bytes) {
    stripes_max_ = stripes_max;
    roles_ = roles;
    unit_bytes_ = bytes ? std::size_t{unit_sectors} * kSectorBytes : 0;
    clear();
  }
  bool on() const { return stripes_max_ > 0; }

  /// Returns true if all rows are cached, and copies them to `into` unless it is null.
  bool read(std::uint64_t stripe, std::uint32_t role, RowRange rows, std::byte* into) const {
    const auto found = index_.find(stripe);
    if (found == index_.end()) return false;
    const RowRange& known = found->second->known[role];
    if (rows.first < known.first || rows.last > known.last) return false;
    if (into != nullptr && unit_bytes_ > 0)
      std::memcpy(into, place(*found->second, role, rows.first),
                  std::size_t{rows.sectors()} * kSectorBytes);
    return true;
  }

  /// Caches rows. If rows are already cached for this stripe and role, they are kept if the new
  /// rows overlap or adjoin them, and dropped otherwise.
  void put(std::uint64_t stripe, std::uint32_t role, RowRange rows, const std::byte* from) {
    if (!on() || rows.empty()) return;
    Entry& entry = touch(stripe);
    RowRange& known = entry.known[role];
    if (!known.empty() && rows.first <= known.last && known.first <= rows.last) {
      known = {std::min(known.first, rows.first), std::max(known.last, rows.last)};
    } else {
      known = rows;
    }
    if (from != nullptr && unit_bytes_ > 0)
      std::memcpy(place(entry, role, rows.first), from, std::size_t{rows.sectors()} * kSectorBytes);
  }

  void forget(std::uint64_t stripe) {
    const auto found = index_.find(stripe);
    if (found == index_.end()) return;
    entries_.erase(found->second);
    index_.erase(found);
  }
  void clear() {
    entries_.clear();
    index_.clear();
  }

 private:
  struct Entry {
    std::uint64_t stripe = 0;
    std::vector<RowRange> known;
    mutable std::vector<std::byte> bytes;
  };
  std::byte* place(const Entry& entry, std::uint32_t role, std::uint32_t row) const {
    return entry.bytes.data() + role * unit_bytes_ + std::size_t{row} * kSectorBytes;
  }
  Entry& touch(std::uint64_t stripe) {
    const auto found = index_.find(stripe);
    if (found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front();
    }
    if (entries_.size() < stripes_max_) {
      entries_.emplace_front();
      entries_.front().bytes.resize(roles_ * unit_bytes_);
    } else {
      index_.erase(entries_.back().stripe);
      entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
    }
    Entry& entry = entries_.front();
    entry.stripe = stripe;
    entry.known.assign(roles_, {});
    index_[stripe] = entries_.begin();
    return entry;
  }

  std::uint32_t stripes_max_ = 0, roles_ = 0;
  std::size_t unit_bytes_ = 0;
  std::list<Entry> entries_;  ///< most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> index_;
};

}  // namespace headcrash::model
