#pragma once
// Draws that are the same on every host: std::mt19937_64, whose sequence the C++ standard fixes,
// reduced by hand, since the library's distributions differ between implementations.

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace headcrash::timed {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  /// Below `bound`, which is not 0.
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
