#pragma once
// The word of a configuration that says which clock drives model time.

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"

namespace headcrash::profiles {

struct Clock {
  enum class Kind : std::uint8_t {
    real,
    off,
    /// a guest's, which stands still while it computes (plugin/servers/timetravel); no
    /// configuration names it
    virtual_time,
  };
  Kind kind = Kind::real;
  double slowdown = 1;  ///< K: wall time that passes for one unit of model time
  bool operator==(const Clock&) const = default;
};

/// "off", "real" or "real:K" with K from 0.001 to 1000000. `subject` (the parameter, or file and
/// key) begins the error.
Result<Clock> parse_clock(std::string_view text, const std::string& subject = "clock");
std::string clock_text(const Clock& clock);  ///< "off", "virtual" or "real:K"

}  // namespace headcrash::profiles
