#pragma once
// Measures how long a device is busy. A device is busy while at least one request is in flight or
// the mechanism is moving.

#include <optional>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

class BusyTime {
 public:
  /// Sets whether the device is busy from `now` on. Has no effect if the device is already in that
  /// state.
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
  /// Returns the time at which the device became idle; nullopt while it is busy, and 0 if it has
  /// never been busy.
  std::optional<TimeNs> idle_since() const {
    return since_ ? std::nullopt : std::optional(idle_since_);
  }
  TimeNs total_ns(TimeNs now) const { return since_ ? total_ns_ + (now - *since_) : total_ns_; }

 private:
  TimeNs total_ns_ = 0, idle_since_ = 0;
  std::optional<TimeNs> since_;
};

}  // namespace headcrash::model
