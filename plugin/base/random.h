#pragma once
// The model's random numbers: splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014). A given seed yields the same numbers on every host.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace headcrash {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// Returns a number below `bound`. The modulo bias (at most bound / 2^64) is negligible.
  /// REQUIRES: `bound` is not 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// Returns a value greater than 0 and less than 1, computed from the upper 53 of 64 random bits.
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
