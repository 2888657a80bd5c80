#pragma once
// Which of the requests that may go goes next, by where it lies.
//
// fcfs the oldest; sstf the nearest to where the last one ended; look the next in the direction of
// the last, turning when there is none; c_look the next above, and from the top to the lowest
// (Worthington, Ganger and Patt, "Scheduling algorithms for modern disk drives", SIGMETRICS 1994,
// section 3). The driver knows block numbers, not cylinders.
//
// shuffled is not a disk's: a lab's. The seed gives each request its rank (an even one: each place
// on the disk its rank), and the lowest goes first, so that some wait until nothing else does.

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "fs-adapters/substrate/os/disk_order.h"

namespace headcrash::os {

enum class Schedule : std::uint8_t { fcfs, sstf, look, c_look, shuffled };

class DiskSchedule {
 public:
  explicit DiskSchedule(Schedule schedule, std::uint64_t seed = 0)
      : schedule_(schedule), seed_(seed) {}

  void insert(RequestId id, std::uint64_t lba);
  void erase(RequestId id, std::uint64_t lba);
  bool empty() const { return by_lba_.empty(); }

  /// The next to go; not erased. There is one.
  RequestId choose();
  /// The last request ended before this sector.
  void moved_to(std::uint64_t lba) { head_ = lba; }
  /// The first request at exactly `lba` that is `good`.
  template <typename Good>
  std::optional<RequestId> at(std::uint64_t lba, const Good& good) const {
    for (auto it = by_lba_.lower_bound({lba, 0}); it != by_lba_.end() && it->first == lba; ++it)
      if (good(it->second)) return it->second;
    return std::nullopt;
  }

 private:
  using ByLba = std::set<std::pair<std::uint64_t, RequestId>>;
  RequestId nearest() const;
  RequestId below() const;
  std::uint64_t rank(RequestId id, std::uint64_t lba) const;

  Schedule schedule_;
  std::uint64_t seed_;
  ByLba by_lba_;
  std::set<RequestId> by_age_;                             ///< fcfs only
  std::set<std::pair<std::uint64_t, RequestId>> by_rank_;  ///< shuffled only
  std::uint64_t head_ = 0;
  bool rising_ = true;
};

}  // namespace headcrash::os
