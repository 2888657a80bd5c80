#pragma once
// Encoding of vhost-user messages between a front-end (a virtual machine) and a block device. A
// message is a header of three words (request, flags, payload bytes) and a payload.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/servers/vhost/guest_memory.h"

namespace headcrash::vhost {

inline constexpr std::size_t kMessageHeaderBytes = 12;
inline constexpr std::size_t kPayloadBytesMax = 8 + kRegionsMax * 32;
inline constexpr std::uint32_t kConfigBytesMax = 256;

enum class Verb : std::uint32_t {
  get_features = 1,
  set_features = 2,
  set_owner = 3,
  reset_owner = 4,
  set_mem_table = 5,
  set_vring_num = 8,
  set_vring_addr = 9,
  set_vring_base = 10,
  get_vring_base = 11,
  set_vring_kick = 12,
  set_vring_call = 13,
  set_vring_err = 14,
  get_protocol_features = 15,
  set_protocol_features = 16,
  get_queue_num = 17,
  set_vring_enable = 18,
  set_backend_req_fd = 21,
  get_config = 24,
  set_config = 25,
  vring_kick = 35,
};

struct Header {
  Verb verb = Verb::get_features;
  bool needs_reply = false;
  std::uint32_t payload_bytes = 0;
};
/// Fails if the protocol version differs, if the request is unknown, or if the payload is too long.
Result<Header> parse_header(std::span<const std::byte, kMessageHeaderBytes> bytes);

struct NoPayload {};
struct NumberPayload {
  std::uint64_t value = 0;
};
struct RingState {
  std::uint32_t ring = 0, value = 0;
};
struct RingAddress {
  std::uint32_t ring = 0;
  std::uint64_t descriptors = 0, available = 0, used = 0;
};
/// The payload of set_vring_kick, set_vring_call and set_vring_err. `comes` is true if a file
/// descriptor must accompany the message.
struct RingDescriptor {
  std::uint32_t ring = 0;
  bool comes = false;
};
struct ConfigPart {
  std::uint32_t offset = 0, bytes = 0;
};
using Payload = std::variant<NoPayload, NumberPayload, RingState, RingAddress, RingDescriptor,
                             ConfigPart, std::vector<MemoryRegion>>;

/// Fails if the payload's length does not match the request.
Result<Payload> parse_payload(Verb verb, std::span<const std::byte> bytes);

/// Returns an in-band notification (VHOST_USER_PROTOCOL_F_INBAND_NOTIFICATIONS) for the back-end's
/// request channel. It reports that chains of the ring have completed. If `wants_ack` is true, the
/// front-end acknowledges the notification.
std::vector<std::byte> ring_call(std::uint32_t ring, bool wants_ack);
/// Size of the acknowledgement of ring_call(): header and payload.
inline constexpr std::size_t kAckBytes = kMessageHeaderBytes + 8;
/// Fails if the message is not an acknowledgement, or if the front-end reports an error.
Result<void> parse_ring_call_ack(std::span<const std::byte, kAckBytes> bytes);

/// Returns a reply to `verb`: header and payload.
std::vector<std::byte> reply(Verb verb, std::span<const std::byte> payload);
const char* verb_name(Verb verb);

}  // namespace headcrash::vhost
