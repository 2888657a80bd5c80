#pragma once
// A small LRU cache of values that are expensive to compute.

#include <cstddef>
#include <list>
#include <utility>

namespace headcrash::states {

/// A map of recently used entries. Lookups are linear, so the map should have only a few entries.
/// Not thread-safe.
template <typename Key, typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Returns null if the key is absent. The pointer is valid until the next put().
  const Value* find(const Key& key) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != key) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return &entry->second;
    }
    return nullptr;
  }
  /// Inserts or replaces an entry.
  void put(const Key& key, Value value) {
    entries_.remove_if([&key](const auto& entry) { return entry.first == key; });
    if (entries_.size() >= entries_max_) entries_.pop_back();
    entries_.emplace_front(key, std::move(value));
  }

 private:
  std::size_t entries_max_;
  std::list<std::pair<Key, Value>> entries_;  ///< most recently used first
};

}  // namespace headcrash::states
