#pragma once
// Random distributions computed from 64 random bits; they are the same on every host.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "plugin/base/random.h"

namespace headcrash {

/// Returns a value greater than 0 and less than 1, computed from the upper 53 bits of `bits`.
inline double uniform_of(std::uint64_t bits) {
  constexpr double kSteps = 9007199254740992.0;  // 2^53
  return (static_cast<double>(bits >> 11U) + .5) / kSteps;
}

/// Returns a normal deviate with mean 0 and standard deviation 1 (Box and Muller 1958).
inline double normal_of(Random& random) {
  const double radius = std::sqrt(-2 * std::log(uniform_of(random.next())));
  return radius * std::cos(2 * std::numbers::pi * uniform_of(random.next()));
}

}  // namespace headcrash
