#pragma once
// Which clock drives model time: the host's monotonic clock, slowed down by K, or none.

#include <ctime>
#include <string>
#include <string_view>

#include "plugin/model/result.h"
#include "plugin/model/simulation.h"

namespace headcrash::nbd {

using WallNs = std::int64_t;  ///< nanoseconds of CLOCK_MONOTONIC

inline WallNs wall_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return WallNs{now.tv_sec} * model::kSecondNs + now.tv_nsec;
}

struct Clock {
  enum class Kind : std::uint8_t { real, off };
  Kind kind = Kind::real;
  double slowdown = 1;  ///< K: wall time that passes for one unit of model time
  bool operator==(const Clock&) const = default;
};

/// "off", "real" or "real:K" with K from 0.001 to 1000000.
Result<Clock> parse_clock(std::string_view text);
std::string clock_text(const Clock& clock);  ///< "off" or "real:K"

/// The line that ties model time to wall time from one change of the clock to the next.
struct ClockAnchor {
  WallNs wall = 0;
  model::TimeNs model = 0;
  double slowdown = 1;

  model::TimeNs model_at(WallNs when) const;  ///< rounded down
  WallNs wall_at(model::TimeNs when) const;   ///< rounded up: never before the modelled instant
};

}  // namespace headcrash::nbd
