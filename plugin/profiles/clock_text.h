#pragma once
// Converts the clock for model time from and to the text that configurations use.

#include <cstdint>
#include <string>
#include <string_view>

#include "plugin/base/result.h"
#include "plugin/base/strict_table.h"

namespace headcrash::profiles {

struct Clock {
  enum class Kind : std::uint8_t {
    real,
    off,
    /// The guest's own time, which does not advance while the guest computes
    /// (plugin/servers/timetravel). parse_clock() does not accept it.
    virtual_time,
  };
  Kind kind = Kind::real;
  double slowdown = 1;  ///< K: wall time per unit of model time
  bool operator==(const Clock&) const = default;
};

inline constexpr Clock kClockOff{.kind = Clock::Kind::off};

/// Parses "off", "real" or "real:K" with K from 0.001 to 1000000. Errors begin with `subject` (the
/// parameter, or file and key).
Result<Clock> parse_clock(std::string_view text, const std::string& subject = "clock");
/// Reads a key of a TOML file; leaves `into` unchanged if the key is absent.
Result<void> take_clock(const base::StrictTable& table, const std::string& key, Clock& into);
std::string clock_text(const Clock& clock);  ///< "off", "virtual" or "real:K"

}  // namespace headcrash::profiles
