#pragma once
// A fast test for zero bytes.

#include <cstddef>
#include <cstring>
#include <span>

namespace headcrash::base {

/// Returns true if all bytes are zero or `bytes` is empty. For speed, a single memcmp compares each
/// byte with its successor.
inline bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes.front() == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace headcrash::base
