// Generates file accesses (access_pattern.h).
#include "harness/papers/rosenblum92/access_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr double kTwoTo32 = 4294967296.0;
constexpr unsigned kTableBits = 12;
constexpr unsigned kFractionBits = 20;
constexpr double kLn10 = 2.302585092994046;

/// Returns -ln(1 - x) for 0 <= x <= 1/2. Uses only addition, multiplication and division, so the
/// result is the same on every host.
double minus_log_one_minus(double x) {
  double sum = 0, power = x;
  for (int k = 1; k <= 60; ++k) {
    sum += power / k;
    power *= x;
  }
  return sum;
}

/// Converts the low 32 bits of `bits` to a uniform number below `bound`.
std::uint32_t scaled(std::uint64_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((bits & 0xffffffffU) * bound) >> 32);
}

}  // namespace

std::string AccessPattern::name() const {
  switch (kind) {
    case Kind::uniform:
      return "uniform";
    case Kind::hot_and_cold:
      return fmt::format("hot-and-cold {:g}->{:g}", 100 * hot_references, 100 * hot_files);
    case Kind::exponential:
      return fmt::format("exponential, mean {:.5f}", mean);
  }
  return "";
}

AccessGenerator::AccessGenerator(const AccessPattern& pattern, std::uint32_t files,
                                 std::uint64_t seed)
    : pattern_(pattern), files_(files), random_(seed) {
  invariant(files > 0 && files <= (std::uint32_t{1} << 31),
            "the number of files must be from 1 to 2^31");
  hot_limit_ = files / 2;
  if (pattern.kind == AccessPattern::Kind::hot_and_cold) {
    hot_limit_ = static_cast<std::uint32_t>(std::llround(pattern.hot_files * files));
    hot_threshold_ = static_cast<std::uint64_t>(pattern.hot_references * kTwoTo32);
    invariant(hot_limit_ > 0 && hot_limit_ < files,
              "both groups of a hot-and-cold pattern must have files");
  } else if (pattern.kind == AccessPattern::Kind::exponential) {
    const double mean_files = pattern.mean * files;
    invariant(mean_files > 0, "the mean of an exponential pattern must be greater than 0");
    hot_limit_ = static_cast<std::uint32_t>(std::min(kLn10 * mean_files, files - 1.0));
    median_ = mean_files * minus_log_one_minus(.5);
    constexpr std::size_t kIntervals = std::size_t{1} << kTableBits;
    for (std::size_t i = 0; i <= kIntervals; ++i)
      inverse_.push_back(mean_files * minus_log_one_minus(static_cast<double>(i) /
                                                          (2 * static_cast<double>(kIntervals))));
  }
}

void AccessGenerator::next(std::span<std::uint32_t> out) {
  Random random = random_;
  switch (pattern_.kind) {
    case AccessPattern::Kind::uniform:
      for (std::uint32_t& each : out) each = scaled(random.next(), files_);
      break;
    case AccessPattern::Kind::hot_and_cold:
      for (std::uint32_t& each : out) {
        const std::uint64_t bits = random.next();
        const bool hot = (bits >> 32) < hot_threshold_;
        each = (hot ? 0 : hot_limit_) + scaled(bits, hot ? hot_limit_ : files_ - hot_limit_);
      }
      break;
    case AccessPattern::Kind::exponential:
      next_exponential(out);
      return;
  }
  random_ = random;
}

void AccessGenerator::next_exponential(std::span<std::uint32_t> out) {
  Random random = random_;
  constexpr double kFraction = 1.0 / (1U << kFractionBits);
  for (std::uint32_t& each : out) {
    double at = files_;
    while (at >= files_) {  // draw again if the number is beyond the last file
      const std::uint64_t bits = random.next();
      const std::uint64_t interval = (bits >> kFractionBits) & ((1U << kTableBits) - 1);
      const double fraction = static_cast<double>(bits & ((1U << kFractionBits) - 1)) * kFraction;
      const int medians = std::countl_zero(bits | 1);
      at = median_ * medians + inverse_[interval] +
           fraction * (inverse_[interval + 1] - inverse_[interval]);
    }
    each = static_cast<std::uint32_t>(at);
  }
  random_ = random;
}

}  // namespace headcrash::experiment::rosenblum92
