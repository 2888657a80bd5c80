#pragma once
// A system's source of time (system.h): the events of emulated hardware, or a real clock.
//
// An executor uses a clock to read the time and to let time pass until an event. A VirtualClock
// runs the next event of the simulation that contains the disk, so that half an hour of model time
// takes about a second. A WallClock sleeps, and its events come from the threads that serve a real
// block device. Code that uses this interface works with either.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "plugin/model/core/simulation.h"

namespace headcrash::os {

using model::TimeNs;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeNs now() const = 0;

  /// Lets time pass until `until`, or without limit if `until` is kNever. Returns early after the
  /// first external event. Returns false if `until` is kNever and no event can ever occur.
  virtual bool pass_until(TimeNs until) = 0;
};

/// A clock that shows model time. The simulation's events run only inside pass_until().
class VirtualClock : public Clock {
 public:
  explicit VirtualClock(model::Simulation& simulation) : simulation_(simulation) {}
  TimeNs now() const override { return simulation_.now(); }
  bool pass_until(TimeNs until) override;

 private:
  model::Simulation& simulation_;
};

/// A clock of real time (CLOCK_MONOTONIC). Other threads can post events to the clock.
class WallClock : public Clock {
 public:
  /// Origin of the reported time: the boot of the machine, or the epoch. The offset to the epoch is
  /// determined once, when the clock is created, so later changes to the system's date do not
  /// affect the reported time.
  enum class Origin : std::uint8_t { boot, epoch };
  explicit WallClock(Origin origin = Origin::boot);
  TimeNs now() const override;
  bool pass_until(TimeNs until) override;

  /// Schedules a call of `happened` on the executor's thread, inside the next pass_until(). May be
  /// called from any thread. The number of pending events is not limited here; callers limit it,
  /// because each of their outstanding requests to a disk or server posts one event.
  void post(std::function<void()> happened);

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<std::function<void()>> events_;
  TimeNs origin_ns_ = 0;  ///< added to CLOCK_MONOTONIC
};

}  // namespace headcrash::os
