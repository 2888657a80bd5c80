#pragma once
// Random numbers that are the same on every host. The C++ standard defines the sequence of
// std::mt19937_64, but not the algorithms of the library's distributions, so these are not used.

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace headcrash::timed {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : random_(seed) {}

  /// Returns a random number from 0 to `bound` - 1. REQUIRES: `bound` is not 0.
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t left = list.size(); left > 1; --left)
      std::swap(list[left - 1], list[below(left)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace headcrash::timed
