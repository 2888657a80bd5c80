#pragma once
// Reads little-endian and big-endian integers from metadata blocks. REQUIRES: at + width <=
// block.size(), width <= 8.

#include <cstddef>
#include <cstdint>
#include <span>

namespace headcrash::explorer {

inline std::uint64_t little(std::span<const std::byte> block, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(block[at + i]);
  return value;
}
inline std::uint64_t big(std::span<const std::byte> block, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(block[at + i]);
  return value;
}

}  // namespace headcrash::explorer
