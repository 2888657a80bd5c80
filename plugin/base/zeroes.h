#pragma once
// A fast test for zero bytes.

#include <cstddef>
#include <cstring>
#include <span>

namespace headcrash::base {

/// Returns true if all bytes are zero or `bytes` is empty. A single memcmp compares each byte with
/// its successor, which is fast.
inline bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes.front() == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace headcrash::base
