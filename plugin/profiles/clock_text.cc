#include "plugin/profiles/clock_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace headcrash::profiles {
namespace {

constexpr double kSlowdownMin = 0.001;
constexpr double kSlowdownMax = 1e6;

}  // namespace

Result<Clock> parse_clock(std::string_view text, const std::string& subject) {
  constexpr const char* kHint = "use real, real:K (K times slower than real time) or off";
  if (text == "off") return Clock{Clock::Kind::off, 1};
  if (text == "real") return Clock{Clock::Kind::real, 1};
  if (!text.starts_with("real:"))
    return fail(subject, fmt::format("\"{}\" is not a valid clock", text), kHint);
  const std::string_view number = text.substr(5);
  Clock clock;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), clock.slowdown);
  if (error != std::errc() || end != number.data() + number.size() || std::isnan(clock.slowdown))
    return fail(subject, fmt::format("\"{}\" is not a number", number), kHint);
  if (clock.slowdown < kSlowdownMin || clock.slowdown > kSlowdownMax)
    return fail(subject, fmt::format("K = {} is out of range", number),
                "use K from 0.001 to 1000000");
  return clock;
}

Result<void> take_clock(const base::StrictTable& table, const std::string& key, Clock& into) {
  if (!table.has(key)) return {};
  std::string text;
  TRY(table.take(key, text));
  TRY(into, parse_clock(text, table.subject(key)));
  return {};
}

std::string clock_text(const Clock& clock) {
  if (clock.kind == Clock::Kind::virtual_time) return "virtual";
  return clock.kind == Clock::Kind::off ? "off" : fmt::format("real:{}", clock.slowdown);
}

}  // namespace headcrash::profiles
