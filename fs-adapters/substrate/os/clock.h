#pragma once
// What drives the time of a system (system.h): the events of emulated hardware, or the machine's
// own clock.
//
// An executor asks only two things of it: what time it is, and to let time pass until something
// happens. With a VirtualClock time passes by running the next event of the simulation that the
// disk is part of, so that half an hour of 1994 takes a second; with a WallClock it passes by
// sleeping, and what happens comes from the threads that talk to a real block device. Nothing above
// this file can tell the two apart.

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

  /// Lets time pass up to `until` (kNever: for as long as it takes), but returns as soon as one
  /// thing from outside has happened. False: `until` is kNever and nothing will ever happen.
  virtual bool pass_until(TimeNs until) = 0;
};

/// Model time. The simulation's events happen inside pass_until() and nowhere else.
class VirtualClock : public Clock {
 public:
  explicit VirtualClock(model::Simulation& simulation) : simulation_(simulation) {}
  TimeNs now() const override { return simulation_.now(); }
  bool pass_until(TimeNs until) override;

 private:
  model::Simulation& simulation_;
};

/// CLOCK_MONOTONIC. Other threads hand in what has happened.
class WallClock : public Clock {
 public:
  /// From where it counts: since the machine's start, or since the epoch, as the calendar stood
  /// when this was made. The calendar may be set later: time continues evenly all the same.
  enum class Origin : std::uint8_t { boot, epoch };
  explicit WallClock(Origin origin = Origin::boot);
  TimeNs now() const override;
  bool pass_until(TimeNs until) override;

  /// From any thread: `happened` is called inside the next pass_until(), on the executor's thread.
  /// Who posts bounds how many wait: one for each request outstanding at a disk, or at a server's
  /// front.
  void post(std::function<void()> happened);

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::vector<std::function<void()>> events_;
  TimeNs origin_ns_ = 0;  ///< between CLOCK_MONOTONIC and what is reported
};

}  // namespace headcrash::os
