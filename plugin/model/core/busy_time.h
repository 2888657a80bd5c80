#pragma once
// How long a device has been busy: at least one request was inside, or its mechanism was moving.

#include <optional>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

class BusyTime {
 public:
  /// From `now` on; saying the same again changes nothing.
  void set(bool busy, TimeNs now) {
    if (busy == since_.has_value()) return;
    if (busy) {
      since_ = now;
    } else {
      total_ns_ += now - *since_;
      since_.reset();
      idle_since_ = now;
    }
  }
  /// Nothing while it is busy; 0 for a device that has never been.
  std::optional<TimeNs> idle_since() const {
    return since_ ? std::nullopt : std::optional(idle_since_);
  }
  TimeNs total_ns(TimeNs now) const { return since_ ? total_ns_ + (now - *since_) : total_ns_; }

 private:
  TimeNs total_ns_ = 0, idle_since_ = 0;
  std::optional<TimeNs> since_;
};

}  // namespace headcrash::model
