#pragma once
// Selects the next of the dispatchable requests, by address.
//
// fcfs selects the oldest request. sstf selects the request nearest to the end of the previous
// request. look selects the next request in the current direction, and reverses the direction when
// no request is left in it. c_look selects the next higher address, and wraps around from the
// highest to the lowest (Worthington, Ganger and Patt, "Scheduling algorithms for modern disk
// drives", SIGMETRICS 1994, section 3). The driver knows block numbers, not cylinders.
//
// shuffled is for testing only. It gives each request a rank, derived from the seed and from the
// request's number (or, if the seed is even, from its address), and selects the lowest rank. A
// request with a high rank therefore waits until no other request is left.

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

  /// Returns the next request without removing it. The schedule must not be empty.
  RequestId choose();
  /// Sets the head position to the end of the previous request.
  void moved_to(std::uint64_t lba) { head_ = lba; }
  /// Returns the first request at exactly `lba` that satisfies `good`.
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
  std::set<RequestId> by_age_;                             ///< used only by fcfs
  std::set<std::pair<std::uint64_t, RequestId>> by_rank_;  ///< used only by shuffled
  std::uint64_t head_ = 0;
  bool rising_ = true;
};

}  // namespace headcrash::os
