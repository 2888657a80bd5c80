#pragma once
// Bytes of which none says anything.

#include <cstddef>
#include <cstring>
#include <span>

namespace headcrash::base {

/// Whether all are zero; of no bytes: true. At the speed of memcmp: each byte is compared with the
/// one before it.
inline bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes.front() == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace headcrash::base
