#pragma once
// The busy time of a device: the time with at least one request in flight, or with the mechanism
// moving.

#include <optional>

#include "plugin/model/core/simulation.h"

namespace headcrash::model {

class BusyTime {
 public:
  /// Sets the state from `now` on. Has no effect if the state is unchanged.
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
  /// Returns nullopt while busy; 0 if the device has never been busy.
  std::optional<TimeNs> idle_since() const {
    return since_ ? std::nullopt : std::optional(idle_since_);
  }
  TimeNs total_ns(TimeNs now) const { return since_ ? total_ns_ + (now - *since_) : total_ns_; }

 private:
  TimeNs total_ns_ = 0, idle_since_ = 0;
  std::optional<TimeNs> since_;
};

}  // namespace headcrash::model
