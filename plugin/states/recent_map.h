#pragma once
// What is expensive to make, kept while it is asked for: the entry that nobody has asked for
// longest goes first.

#include <cstddef>
#include <list>
#include <utility>

namespace headcrash::states {

/// Not for several threads at once. Looks through all entries: for a few.
template <typename Key, typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Null when it is not kept; valid until the next put().
  const Value* find(const Key& key) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != key) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return &entry->second;
    }
    return nullptr;
  }
  /// Replaces what was kept under the key.
  void put(const Key& key, Value value) {
    entries_.remove_if([&key](const auto& entry) { return entry.first == key; });
    if (entries_.size() >= entries_max_) entries_.pop_back();
    entries_.emplace_front(key, std::move(value));
  }

 private:
  std::size_t entries_max_;
  std::list<std::pair<Key, Value>> entries_;  ///< the one asked for last is in front
};

}  // namespace headcrash::states
