// The two clocks (clock.h).
#include "fs-adapters/substrate/os/clock.h"

#include <chrono>
#include <utility>

namespace headcrash::os {

bool VirtualClock::pass_until(TimeNs until) {
  const auto next = simulation_.next_event();
  if (next && *next <= until) return simulation_.run_next();
  if (until == model::kNever) return false;
  simulation_.run_until(until);
  return true;
}

WallClock::WallClock(Origin origin) {
  if (origin == Origin::boot) return;
  const std::chrono::nanoseconds calendar = std::chrono::system_clock::now().time_since_epoch();
  origin_ns_ = calendar.count() - now();
}

TimeNs WallClock::now() const {
  // Needs no conversion: steady_clock counts CLOCK_MONOTONIC in nanoseconds.
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count() +
         origin_ns_;
}

bool WallClock::pass_until(TimeNs until) {
  std::vector<std::function<void()>> happened;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto something = [this] { return !events_.empty(); };
    if (until == model::kNever) {
      posted_.wait(lock, something);
    } else if (until > now()) {  // even a wait of 0 takes 50 us (timer slack)
      const std::chrono::steady_clock::time_point end{std::chrono::nanoseconds(until - origin_ns_)};
      posted_.wait_until(lock, end, something);
    }
    happened.swap(events_);
  }
  for (const auto& event : happened) event();
  return true;
}

void WallClock::post(std::function<void()> happened) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(happened));
  }
  posted_.notify_one();
}

}  // namespace headcrash::os
