// The event queue (simulation.h): a binary heap ordered by time, then by scheduling order.
#include "plugin/model/core/simulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace headcrash::model {

void Simulation::schedule(TimeNs at, EventTarget& target, std::uint64_t tag) {
  if (at < now_) {
    std::fprintf(stderr, "headcrash: an event was scheduled %lld ns in the past\n",
                 static_cast<long long>(now_ - at));
    std::abort();
  }
  heap_.push_back({at, next_sequence_++, &target, tag});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

std::optional<TimeNs> Simulation::next_event() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().at;
}

bool Simulation::run_next() {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = heap_.back();
  heap_.pop_back();
  now_ = event.at;
  event.target->on_event(event.tag);
  return true;
}

void Simulation::run_until(TimeNs until) {
  while (!heap_.empty() && heap_.front().at <= until) run_next();
  now_ = std::max(now_, until);
}

}  // namespace headcrash::model
