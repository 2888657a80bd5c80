#pragma once
// Encoding of a recording's structures (event.h), with limits that prevent a damaged length from
// causing a huge allocation.

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "plugin/base/crc32c.h"
#include "plugin/record/event.h"

namespace headcrash::record {

static_assert(std::endian::native == std::endian::little,
              "the host must be little-endian, as are recordings");

inline constexpr std::array<unsigned char, 8> kMagic = {'H', 'C', 'R', 'E', 'C', 0, 0, 2};
inline constexpr std::uint64_t kSlotsAt = 16;
inline constexpr std::uint64_t kTextAt = 80;
inline constexpr std::size_t kEventHeaderBytes = 56;
inline constexpr std::size_t kEventAlignment = 8;
/// Maximum payload of an event: twice the maximum size of an NBD request.
inline constexpr std::uint32_t kPayloadBytesMax = 128U << 20;
inline constexpr std::uint32_t kHeaderTextBytesMax = 1U << 20;
/// Maximum time in a valid event. Limited so that a server that continues the log can add its own
/// time without overflow.
inline constexpr std::int64_t kTimeMax = std::int64_t{1} << 62;
inline constexpr std::uint64_t kRequestIdMax = std::uint64_t{1} << 62;  ///< likewise
inline constexpr std::uint8_t kFlagOpMask = 0x07;
inline constexpr std::uint8_t kFlagFua = 0x80;
inline constexpr std::uint8_t kFlagBytesMask = 0x03;
inline constexpr std::uint8_t kFlagMoved = 0x04;
/// Used only by the log itself; readers skip it.
inline constexpr auto kCheckpointKind = static_cast<Kind>(0xc0);

/// Returns the length including the padding.
inline constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kEventAlignment - 1) / kEventAlignment * kEventAlignment;
}

/// The header of an event, which precedes the payload.
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
  std::uint64_t bytes_at = 0;
  std::uint32_t payload_crc = 0;
  std::uint32_t header_crc = 0;
};
// EventHeader has the order, widths and alignment of the format, so that a header can be read and
// written as a whole.
static_assert(sizeof(EventHeader) == kEventHeaderBytes &&
              std::is_trivially_copyable_v<EventHeader>);

/// Location of a checkpoint. The header has two slots; the newer valid one is used.
struct CheckpointSlot {
  std::uint64_t offset = 0;
  /// 0 if the slot is empty. If both slots are valid, the slot with the higher generation is used.
  std::uint64_t generation = 0;
  /// offset of the end of the checkpoint; the file must be at least this long
  std::uint64_t end = 0;
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;
};
static_assert(sizeof(CheckpointSlot) == 32 && kSlotsAt + 2 * sizeof(CheckpointSlot) == kTextAt);

template <typename Fixed>
std::span<const std::byte> bytes_of(const Fixed& fixed) {
  static_assert(std::is_trivially_copyable_v<Fixed>);
  return std::as_bytes(std::span(&fixed, 1));
}

template <typename Fixed>
std::span<std::byte> writable_bytes_of(Fixed& fixed) {
  static_assert(std::is_trivially_copyable_v<Fixed>);
  return std::as_writable_bytes(std::span(&fixed, 1));
}

/// Returns the checksum of a structure. The last four bytes, which hold the checksum, are not
/// included.
template <typename Fixed>
std::uint32_t crc_of(const Fixed& fixed) {
  return crc32c(bytes_of(fixed).first(sizeof(Fixed) - sizeof(std::uint32_t)));
}

/// Converts the header text to and from JSON. parse_header_text() returns nullopt if a key is
/// missing or has the wrong type.
std::string header_text(const RecordingHeader& header);
std::optional<RecordingHeader> parse_header_text(std::string_view text);

}  // namespace headcrash::record
