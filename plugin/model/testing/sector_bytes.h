#pragma once
// For tests: fills sectors with one word, and compares sectors. The functions use memcpy and
// memcmp, because loops over bytes would dominate the tests' time in instrumented builds.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace headcrash::model::bench {

/// Fills `bytes` with copies of `word`. REQUIRES: the size of `bytes` is a multiple of the size of
/// `word`.
template <typename Word>
void fill_with(std::span<std::byte> bytes, Word word) {
  std::memcpy(bytes.data(), &word, sizeof word);
  for (std::size_t done = sizeof word; done < bytes.size(); done *= 2)
    std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
}

/// Returns true if the bytes equal the result of fill_with().
template <typename Word>
bool is_filled_with(std::span<const std::byte> bytes, Word word) {
  return std::memcmp(bytes.data(), &word, sizeof word) == 0 &&
         std::memcmp(bytes.data(), bytes.data() + sizeof word, bytes.size() - sizeof word) == 0;
}

inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Returns the length of the common prefix. REQUIRES: `a` and `b` have the same length.
inline std::size_t common_prefix(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::size_t equal = 0;
  for (std::size_t step = a.size(); step > 0; step /= 2)
    while (step <= a.size() - equal && std::memcmp(a.data() + equal, b.data() + equal, step) == 0)
      equal += step;
  return equal;
}

}  // namespace headcrash::model::bench
