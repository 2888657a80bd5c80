#pragma once
// Stripe locks. Updating a stripe takes several member commands, and two concurrent updates would
// make the parity inconsistent. A lock covers a run of stripes. Overlapping requests for locks are
// served in arrival order. A run is locked as a whole, so a coroutine never waits for a lock while
// it holds another one.

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <vector>

#include "plugin/base/invariant.h"

namespace headcrash::model {

class StripeLocks {
 public:
  bool try_lock(std::uint64_t first, std::uint64_t last) {
    if (busy(first, last)) return false;
    held_.push_back({first, last, {}});
    return true;
  }
  /// Returns true if a lock on a stripe is held or awaited.
  bool busy(std::uint64_t first, std::uint64_t last) const {
    return overlaps(held_, held_.size(), first, last) ||
           overlaps(waiting_, waiting_.size(), first, last);
  }
  void wait(std::uint64_t first, std::uint64_t last, std::coroutine_handle<> waiter) {
    waiting_.push_back({first, last, waiter});
  }
  /// Releases the lock that begins at `first`. Calls `granted` for each waiter that obtains its
  /// lock. REQUIRES: the lock is held.
  template <typename Granted>
  void unlock(std::uint64_t first, Granted granted) {
    const auto mine = std::find_if(held_.begin(), held_.end(),
                                   [first](const Run& r) { return r.first == first; });
    invariant(mine != held_.end(), "a stripe lock must be held when it is released");
    *mine = held_.back();
    held_.pop_back();
    for (std::size_t i = 0; i < waiting_.size();) {
      const Run run = waiting_[i];
      if (overlaps(held_, held_.size(), run.first, run.last) ||
          overlaps(waiting_, i, run.first, run.last)) {
        ++i;
        continue;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      held_.push_back(run);
      granted(run.waiter);
    }
  }
  void clear() {
    held_.clear();
    waiting_.clear();
  }

 private:
  struct Run {
    std::uint64_t first, last;
    std::coroutine_handle<> waiter;
  };
  static bool overlaps(const std::vector<Run>& runs, std::size_t count, std::uint64_t first,
                       std::uint64_t last) {
    for (std::size_t i = 0; i < count; ++i) {
      if (first <= runs[i].last && runs[i].first <= last) return true;
    }
    return false;
  }
  std::vector<Run> held_;     ///< short, because each update in flight holds at most one lock
  std::vector<Run> waiting_;  ///< in arrival order
};

}  // namespace headcrash::model
