#pragma once
// Little-endian numbers in on-disk formats, at any offset. The functions use memcpy, so there is no
// unaligned access, and no struct is overlaid on untrusted bytes. The caller checks the bounds. The
// functions are always inlined: otherwise the linker would keep one copy of each, and in sanitizer
// builds that copy may be the unoptimised one.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "plugin/base/invariant.h"

namespace headcrash::little_endian {

static_assert(std::endian::native == std::endian::little,
              "the host must be little-endian, as are the integers on the disk");

template <typename Number>
[[gnu::always_inline]] inline Number load(std::span<const std::byte> bytes, std::size_t offset) {
  invariant(offset + sizeof(Number) <= bytes.size(), "a read must stay inside the block");
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename Number>
[[gnu::always_inline]] inline void store(std::span<std::byte> bytes, std::size_t offset,
                                         Number value) {
  invariant(offset + sizeof value <= bytes.size(), "a write must stay inside the block");
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

inline std::uint8_t load8(std::span<const std::byte> b, std::size_t at) {
  return load<std::uint8_t>(b, at);
}
inline std::uint16_t load16(std::span<const std::byte> b, std::size_t at) {
  return load<std::uint16_t>(b, at);
}
inline std::uint32_t load32(std::span<const std::byte> b, std::size_t at) {
  return load<std::uint32_t>(b, at);
}
inline std::uint64_t load64(std::span<const std::byte> b, std::size_t at) {
  return load<std::uint64_t>(b, at);
}
inline void store8(std::span<std::byte> b, std::size_t at, std::uint8_t value) {
  store(b, at, value);
}
inline void store16(std::span<std::byte> b, std::size_t at, std::uint16_t value) {
  store(b, at, value);
}
inline void store32(std::span<std::byte> b, std::size_t at, std::uint32_t value) {
  store(b, at, value);
}
inline void store64(std::span<std::byte> b, std::size_t at, std::uint64_t value) {
  store(b, at, value);
}

}  // namespace headcrash::little_endian
