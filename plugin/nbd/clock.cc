// Clock texts and the conversion between wall and model time (clock.h).
#include "plugin/nbd/clock.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

namespace headcrash::nbd {
namespace {

constexpr double kSlowdownMin = 0.001;
constexpr double kSlowdownMax = 1e6;
constexpr WallNs kFarthest =
    model::kNever / 4;  ///< beyond it an instant is as good as never, and sums still fit

}  // namespace

Result<Clock> parse_clock(std::string_view text) {
  constexpr const char* kRemedy = "use real, real:K (K times slower than life) or off";
  if (text == "off") return Clock{Clock::Kind::off, 1};
  if (text == "real") return Clock{Clock::Kind::real, 1};
  if (!text.starts_with("real:")) return fail("clock", fmt::format("\"{}\" is not a clock", text), kRemedy);
  const std::string_view number = text.substr(5);
  Clock clock;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), clock.slowdown);
  if (error != std::errc() || end != number.data() + number.size() || std::isnan(clock.slowdown))
    return fail("clock", fmt::format("\"{}\" is not a number", number), kRemedy);
  if (clock.slowdown < kSlowdownMin || clock.slowdown > kSlowdownMax)
    return fail("clock", fmt::format("K = {} is out of range", number), "use K from 0.001 to 1000000");
  return clock;
}

std::string clock_text(const Clock& clock) {
  return clock.kind == Clock::Kind::off ? "off" : fmt::format("real:{}", clock.slowdown);
}

model::TimeNs ClockAnchor::model_at(WallNs when) const {
  if (slowdown == 1) return model + (when - wall);
  return model + static_cast<model::TimeNs>(std::floor(static_cast<long double>(when - wall) / slowdown));
}

WallNs ClockAnchor::wall_at(model::TimeNs when) const {
  const long double passed =
      slowdown == 1 ? when - model : std::ceil(static_cast<long double>(when - model) * slowdown);
  return wall + (passed > kFarthest ? kFarthest : static_cast<WallNs>(passed));
}

}  // namespace headcrash::nbd
