#pragma once
// For tests: sectors full of one word, and comparing them. By memcpy and memcmp, since a loop over
// bytes is most of a test's time in a build that instruments each access.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace headcrash::model::bench {

/// Whole words only.
template <typename Word>
void fill_with(std::span<std::byte> bytes, Word word) {
  std::memcpy(bytes.data(), &word, sizeof word);
  for (std::size_t done = sizeof word; done < bytes.size(); done *= 2)
    std::memcpy(bytes.data() + done, bytes.data(), std::min(done, bytes.size() - done));
}

/// Equal to what fill_with() makes.
template <typename Word>
bool is_filled_with(std::span<const std::byte> bytes, Word word) {
  return std::memcmp(bytes.data(), &word, sizeof word) == 0 &&
         std::memcmp(bytes.data(), bytes.data() + sizeof word, bytes.size() - sizeof word) == 0;
}

inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Bytes at the beginning that are equal in both, which are of one length.
inline std::size_t common_prefix(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::size_t equal = 0;
  for (std::size_t step = a.size(); step > 0; step /= 2)
    while (step <= a.size() - equal && std::memcmp(a.data() + equal, b.data() + equal, step) == 0)
      equal += step;
  return equal;
}

}  // namespace headcrash::model::bench
