#pragma once
// The bytes of a recording (drawn in event.h): fixed parts to and from their little-endian form, and the
// limits that keep a damaged length from becoming a huge allocation.

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>

#include "plugin/record/event.h"

namespace headcrash::record {

static_assert(std::endian::native == std::endian::little, "recordings are written as they lie in memory");

inline constexpr std::array<unsigned char, 8> kMagic = {'H', 'C', 'R', 'E', 'C', 0, 0, 1};
inline constexpr std::size_t kEventHeaderBytes = 40;
inline constexpr std::size_t kChecksumBytes = 4;
inline constexpr std::uint32_t kPayloadBytesMax = 128U << 20;  ///< twice what an NBD request can carry
inline constexpr std::uint32_t kHeaderTextBytesMax = 1U << 20;
inline constexpr std::uint8_t kFlagOpMask = 0x07;
inline constexpr std::uint8_t kFlagFua = 0x80;

/// What precedes the payload of an event.
struct EventHeader {
  std::uint32_t payload_bytes = 0;
  Kind kind = Kind::mark;
  std::uint8_t flags = 0;
  std::uint16_t device = 0;
  std::uint64_t request = 0;
  std::int64_t at = 0;
  std::uint64_t lba = 0;
  std::uint32_t sectors = 0;
  std::uint32_t detail = 0;
};
// The members have the order, widths and natural alignment of the format: the struct is its own encoding.
static_assert(sizeof(EventHeader) == kEventHeaderBytes && std::is_trivially_copyable_v<EventHeader>);

inline std::array<std::byte, kEventHeaderBytes> encode(const EventHeader& header) {
  std::array<std::byte, kEventHeaderBytes> bytes;
  std::memcpy(bytes.data(), &header, bytes.size());
  return bytes;
}

inline EventHeader decode(std::span<const std::byte, kEventHeaderBytes> bytes) {
  EventHeader header;
  std::memcpy(&header, bytes.data(), bytes.size());
  return header;
}

}  // namespace headcrash::record
