#include "plugin/servers/vhost/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "plugin/base/little_endian.h"

namespace headcrash::vhost {
namespace {

constexpr std::uint32_t kVersion = 1, kVersionMask = 3, kReply = 4, kNeedsReply = 8;
constexpr std::uint32_t kBackendVringCall = 4;  ///< sent by the back-end
constexpr std::uint64_t kNoDescriptor = 0x100, kRingMask = 0xff;
constexpr std::size_t kRegionBytes = 32;

enum class Kind : std::uint8_t { nothing, number, state, address, descriptor, config, table };
struct Known {
  Verb verb;
  const char* name;
  Kind kind;
};
constexpr Known kKnown[] = {
    {Verb::get_features, "GET_FEATURES", Kind::nothing},
    {Verb::set_features, "SET_FEATURES", Kind::number},
    {Verb::set_owner, "SET_OWNER", Kind::nothing},
    {Verb::reset_owner, "RESET_OWNER", Kind::nothing},
    {Verb::set_mem_table, "SET_MEM_TABLE", Kind::table},
    {Verb::set_vring_num, "SET_VRING_NUM", Kind::state},
    {Verb::set_vring_addr, "SET_VRING_ADDR", Kind::address},
    {Verb::set_vring_base, "SET_VRING_BASE", Kind::state},
    {Verb::get_vring_base, "GET_VRING_BASE", Kind::state},
    {Verb::set_vring_kick, "SET_VRING_KICK", Kind::descriptor},
    {Verb::set_vring_call, "SET_VRING_CALL", Kind::descriptor},
    {Verb::set_vring_err, "SET_VRING_ERR", Kind::descriptor},
    {Verb::get_protocol_features, "GET_PROTOCOL_FEATURES", Kind::nothing},
    {Verb::set_protocol_features, "SET_PROTOCOL_FEATURES", Kind::number},
    {Verb::get_queue_num, "GET_QUEUE_NUM", Kind::nothing},
    {Verb::set_vring_enable, "SET_VRING_ENABLE", Kind::state},
    {Verb::set_backend_req_fd, "SET_BACKEND_REQ_FD", Kind::nothing},
    {Verb::get_config, "GET_CONFIG", Kind::config},
    {Verb::set_config, "SET_CONFIG", Kind::config},
    {Verb::vring_kick, "VRING_KICK", Kind::state},
};

const Known* find(std::uint32_t number) {
  for (const Known& known : kKnown)
    if (static_cast<std::uint32_t>(known.verb) == number) return &known;
  return nullptr;
}

tl::unexpected<Error> wrong_length(const Known& known, std::size_t bytes) {
  return fail("vhost-user message",
              fmt::format("{} has an invalid payload of {} bytes", known.name, bytes));
}

template <typename T>
T at(std::span<const std::byte> bytes, std::size_t offset) {
  return little_endian::load<T>(bytes, offset);
}

Result<Payload> parse_table(const Known& known, std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return wrong_length(known, bytes.size());
  const auto count = at<std::uint32_t>(bytes, 0);
  if (count > kRegionsMax)
    return fail("vhost-user message", fmt::format("{} has {} regions, but at most {} are supported",
                                                  known.name, count, kRegionsMax));
  if (bytes.size() < 8 + count * kRegionBytes) return wrong_length(known, bytes.size());
  std::vector<MemoryRegion> regions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = bytes.subspan(8 + i * kRegionBytes, kRegionBytes);
    regions.push_back({at<std::uint64_t>(one, 0), at<std::uint64_t>(one, 8),
                       at<std::uint64_t>(one, 16), at<std::uint64_t>(one, 24)});
  }
  return regions;
}

Result<Payload> parse_config(const Known& known, std::span<const std::byte> bytes) {
  if (bytes.size() < 12) return wrong_length(known, bytes.size());
  const ConfigPart part{at<std::uint32_t>(bytes, 0), at<std::uint32_t>(bytes, 4)};
  if (part.bytes > kConfigBytesMax || part.offset > kConfigBytesMax - part.bytes ||
      bytes.size() != 12 + part.bytes)
    return fail("vhost-user message",
                fmt::format("{} requests {} bytes at offset {} in a payload of {}", known.name,
                            part.bytes, part.offset, bytes.size()));
  return part;
}

/// Returns the length of a payload of this kind; nullopt if its length varies.
std::optional<std::size_t> length_of(Kind kind) {
  switch (kind) {
    case Kind::nothing:
      return 0;
    case Kind::number:
    case Kind::state:
    case Kind::descriptor:
      return 8;
    case Kind::address:
      return 40;
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<Header> parse_header(std::span<const std::byte, kMessageHeaderBytes> bytes) {
  const auto number = at<std::uint32_t>(bytes, 0), flags = at<std::uint32_t>(bytes, 4);
  Header header;
  header.payload_bytes = at<std::uint32_t>(bytes, 8);
  if ((flags & kVersionMask) != kVersion || (flags & kReply) != 0)
    return fail("vhost-user message", fmt::format("has the invalid flags {:#x}", flags),
                "the client must speak version 1 of the protocol");
  const Known* known = find(number);
  if (known == nullptr)
    return fail("vhost-user message", fmt::format("unknown request {}", number),
                "the client must use negotiated features");
  header.verb = known->verb;
  header.needs_reply = (flags & kNeedsReply) != 0;
  const std::size_t most = std::max<std::size_t>(kPayloadBytesMax, 12 + kConfigBytesMax);
  if (header.payload_bytes > most) return wrong_length(*known, header.payload_bytes);
  return header;
}

Result<Payload> parse_payload(Verb verb, std::span<const std::byte> bytes) {
  const Known& known = *find(static_cast<std::uint32_t>(verb));
  if (const auto length = length_of(known.kind); length && bytes.size() != *length)
    return wrong_length(known, bytes.size());
  switch (known.kind) {
    case Kind::nothing:
      return NoPayload{};
    case Kind::number:
      return NumberPayload{at<std::uint64_t>(bytes, 0)};
    case Kind::state:
      return RingState{at<std::uint32_t>(bytes, 0), at<std::uint32_t>(bytes, 4)};
    case Kind::address:
      return RingAddress{at<std::uint32_t>(bytes, 0), at<std::uint64_t>(bytes, 8),
                         at<std::uint64_t>(bytes, 24), at<std::uint64_t>(bytes, 16)};
    case Kind::descriptor: {
      const auto value = at<std::uint64_t>(bytes, 0);
      return RingDescriptor{static_cast<std::uint32_t>(value & kRingMask),
                            (value & kNoDescriptor) == 0};
    }
    case Kind::config:
      return parse_config(known, bytes);
    case Kind::table:
      return parse_table(known, bytes);
  }
  return NoPayload{};
}

std::vector<std::byte> ring_call(std::uint32_t ring, bool wants_ack) {
  const std::uint32_t words[] = {kBackendVringCall, kVersion | (wants_ack ? kNeedsReply : 0), 8,
                                 ring, 0};
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

Result<void> parse_ring_call_ack(std::span<const std::byte, kAckBytes> bytes) {
  if (at<std::uint32_t>(bytes, 0) != kBackendVringCall ||
      at<std::uint32_t>(bytes, 4) != (kVersion | kReply) || at<std::uint32_t>(bytes, 8) != 8)
    return fail("vhost-user message", "the answer to a VRING_CALL is not a valid reply");
  if (at<std::uint64_t>(bytes, 12) != 0)
    return fail("vhost-user", "the client refused a VRING_CALL");
  return {};
}

std::vector<std::byte> reply(Verb verb, std::span<const std::byte> payload) {
  const std::uint32_t header[3] = {static_cast<std::uint32_t>(verb), kVersion | kReply,
                                   static_cast<std::uint32_t>(payload.size())};
  std::vector<std::byte> bytes(kMessageHeaderBytes + payload.size());
  std::memcpy(bytes.data(), header, kMessageHeaderBytes);
  std::copy(payload.begin(), payload.end(), bytes.begin() + kMessageHeaderBytes);
  return bytes;
}

const char* verb_name(Verb verb) {
  return find(static_cast<std::uint32_t>(verb))->name;
}

}  // namespace headcrash::vhost
