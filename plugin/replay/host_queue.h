#pragma once
// The queue of the host's driver in front of a device. It limits the requests in the device and
// chooses the next one. Positions are block numbers, because a driver does not know the drive's
// geometry.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>

namespace headcrash::replay {

/// The policy that chooses the next request.
enum class HostScheduler : std::uint8_t {
  fcfs,    ///< first come, first served
  sstf,    ///< nearest block number
  c_look,  ///< nearest upwards, wrapping around to the lowest
};

/// If two requests have the same block number, the older one is next.
template <typename Request>
class HostQueue {
 public:
  explicit HostQueue(HostScheduler scheduler) : scheduler_(scheduler) {}

  bool empty() const {
    return scheduler_ == HostScheduler::fcfs ? in_order_.empty() : by_place_.empty();
  }
  void push(std::uint64_t lbn, Request request) {
    if (scheduler_ == HostScheduler::fcfs) {
      in_order_.push_back(request);
    } else {
      by_place_.emplace(lbn, request);
    }
  }
  /// Sets the position of the last request sent to the device, including requests that did not wait
  /// in the queue.
  void sent_to(std::uint64_t lbn) { at_ = lbn; }
  Request pop() {
    if (scheduler_ == HostScheduler::fcfs) {
      const Request next = in_order_.front();
      in_order_.pop_front();
      return next;
    }
    auto next = by_place_.lower_bound(at_);
    if (scheduler_ == HostScheduler::c_look) {
      if (next == by_place_.end()) next = by_place_.begin();
    } else if (next == by_place_.end() ||
               (next != by_place_.begin() && at_ - std::prev(next)->first < next->first - at_)) {
      next = by_place_.lower_bound(std::prev(next)->first);
    }
    const Request taken = next->second;
    by_place_.erase(next);
    return taken;
  }

 private:
  HostScheduler scheduler_;
  std::deque<Request> in_order_;
  std::multimap<std::uint64_t, Request> by_place_;
  std::uint64_t at_ = 0;
};

}  // namespace headcrash::replay
