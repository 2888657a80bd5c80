#pragma once
// Conversion between model time and the host's monotonic clock. With slowdown K, one unit of model
// time takes K units of wall time.

#include <ctime>

#include "plugin/model/core/simulation.h"
#include "plugin/profiles/clock_text.h"

namespace headcrash::emulation {

using WallNs = std::int64_t;  ///< nanoseconds of CLOCK_MONOTONIC

inline WallNs wall_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return WallNs{now.tv_sec} * model::kSecondNs + now.tv_nsec;
}

using profiles::Clock;
using profiles::clock_text;
using profiles::parse_clock;

/// The linear mapping from model time to wall time, valid until the clock is changed.
struct ClockAnchor {
  WallNs wall = 0;
  model::TimeNs model = 0;
  double slowdown = 1;

  model::TimeNs model_at(WallNs when) const;  ///< rounded down
  /// Returns the wall-clock time that corresponds to a model time, rounded up so that no answer is
  /// early.
  WallNs wall_at(model::TimeNs when) const;
};

}  // namespace headcrash::emulation
