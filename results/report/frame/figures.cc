#include "results/report/frame/figures.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace headcrash::report {
namespace {

// A no-break space (U+00A0), which keeps a number and its unit on one line.
constexpr const char* kGap = "\xc2\xa0";

std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95 || size < 0.0005) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}", value, size >= 0.9995 ? 2 : 3);
}

}  // namespace

std::string microseconds(double us) {
  const double size = std::fabs(us);
  if (size < 0.0005) return fmt::format("0{}ms", kGap);
  if (size < 999.5) return three_digits(us) + kGap + "\xc2\xb5s";
  if (size < 999'500) return three_digits(us / 1e3) + kGap + "ms";
  return three_digits(us / 1e6) + kGap + "s";
}

std::string milliseconds(double ms) {
  return microseconds(ms * 1e3);
}

std::string bytes(double count) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (count >= 1023.5 && unit + 1 < kUnits.size()) {
    count /= 1024;
    ++unit;
  }
  return (unit == 0 ? fmt::format("{:.0f}", count) : three_digits(count)) + kGap + kUnits.at(unit);
}

std::string percent(double share) {
  return fmt::format("{:.1f}{}%", share * 100, kGap);
}

std::string duration(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{}{}s", seconds, kGap);
  if (seconds < 3600) return fmt::format("{0}{2}min {1}{2}s", seconds / 60, seconds % 60, kGap);
  return fmt::format("{0}{2}h {1}{2}min", seconds / 3600, seconds % 3600 / 60, kGap);
}

}  // namespace headcrash::report
