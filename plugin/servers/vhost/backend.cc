// Handles vhost-user messages and maintains the protocol state (backend.h).
#include "plugin/servers/vhost/backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace headcrash::vhost {
namespace {

using base::Descriptor;

constexpr std::uint64_t kProtocolFeatures = std::uint64_t{1}
                                            << 30;  ///< a bit of the device features
constexpr std::uint64_t kIndirectFeature = std::uint64_t{1} << 28;
constexpr std::uint64_t kMqFeature = 1U << 0, kReplyAck = 1U << 3, kBackendRequests = 1U << 5,
                        kConfigFeature = 1U << 9,
                        kInBand = 1U << 14;  ///< a bit of the protocol features
constexpr std::uint64_t kSupported =
    kMqFeature | kReplyAck | kBackendRequests | kConfigFeature | kInBand;

}  // namespace

Backend::Backend(const Connection& connection, const Disk& disk, std::uint16_t rings)
    : connection_(connection),
      disk_(disk),
      features_(device_features(disk) | kProtocolFeatures),
      rings_(rings) {}

// ---- messages

Result<void> Backend::handle(Received& received) {
  const Verb verb = received.header.verb;
  switch (verb) {
    case Verb::get_features:
      return connection_.answer_value(verb, features_);
    case Verb::get_protocol_features:
      return connection_.answer_value(verb, kSupported);
    case Verb::get_queue_num:
      return connection_.answer_value(verb, std::uint64_t{rings_.size()});
    case Verb::get_config:
      return send_config(std::get<ConfigPart>(received.payload));
    case Verb::get_vring_base:
      return send_base(std::get<RingState>(received.payload).ring);
    default:
      break;
  }
  TRY(obey(received));
  return acknowledge(received);
}

Result<void> Backend::acknowledge(const Received& received) const {
  if (!received.header.needs_reply || (protocol_ & kReplyAck) == 0) return {};
  return connection_.answer_value(received.header.verb, std::uint64_t{0});
}

Result<void> Backend::obey(Received& received) {
  switch (received.header.verb) {
    case Verb::set_features:
      return set_features(std::get<NumberPayload>(received.payload).value);
    case Verb::set_protocol_features:
      protocol_ = std::get<NumberPayload>(received.payload).value;
      if ((protocol_ & ~kSupported) != 0)
        return fail("vhost-user", "the client set a feature that was not offered");
      return {};
    case Verb::set_mem_table: {
      TRY(auto memory,
          GuestMemory::map(std::get<std::vector<MemoryRegion>>(received.payload), received.files));
      memory_ = std::move(memory);
      return {};
    }
    case Verb::set_vring_num:
    case Verb::set_vring_base:
    case Verb::set_vring_enable:
      return set_state(received.header.verb, std::get<RingState>(received.payload));
    case Verb::vring_kick:
      return kick_in_band(std::get<RingState>(received.payload).ring);
    case Verb::set_backend_req_fd:
      return set_channel(received.files);
    case Verb::set_vring_addr:
      return set_address(std::get<RingAddress>(received.payload));
    case Verb::set_vring_kick:
    case Verb::set_vring_call:
    case Verb::set_vring_err:
      return set_descriptor(received);
    default:  // set_owner, reset_owner; set_config: the configuration is read-only
      return {};
  }
}

Result<void> Backend::set_features(std::uint64_t chosen) {
  if ((chosen & ~features_) != 0)
    return fail("vhost-user", fmt::format("features {:#x} were not offered", chosen & ~features_));
  for (Ring& ring : rings_) {
    ring.split.set_indirect((chosen & kIndirectFeature) != 0);
    if ((chosen & kProtocolFeatures) == 0) ring.enabled = true;
  }
  return {};
}

Result<void> Backend::send_config(const ConfigPart& part) const {
  const auto config = device_config(disk_, static_cast<std::uint16_t>(rings_.size()));
  const std::uint32_t head[3] = {part.offset, part.bytes, 0};
  std::vector<std::byte> payload(sizeof head + part.bytes);
  std::memcpy(payload.data(), head, sizeof head);
  for (std::size_t i = 0; i < part.bytes && part.offset + i < config.size(); ++i)
    payload[sizeof head + i] = config[part.offset + i];
  return connection_.answer(Verb::get_config, payload);
}

// ---- rings

Result<Ring*> Backend::find(std::uint32_t ring) {
  if (ring >= rings_.size()) return fail("vhost-user", fmt::format("no ring {}", ring));
  return &rings_[ring];
}

/// Returns a ring that is stopped. The parameters of a ring may change only while it is stopped.
Result<Ring*> Backend::find_stopped(std::uint32_t ring) {
  auto found = find(ring);
  if (found && (*found)->started) return fail("vhost-user", fmt::format("ring {} is in use", ring));
  return found;
}

/// Enables or disables a ring. A client that sends its notifications as messages need not send
/// SET_VRING_KICK. User-mode Linux never sends it, so SET_VRING_ENABLE starts and stops its rings.
/// QEMU also enables rings that it has not set up and will not use.
Result<void> Backend::enable(Ring& ring, std::uint32_t number, bool enabled) {
  ring.enabled = enabled;
  if ((protocol_ & kInBand) == 0 || ring.kick.is_open()) return {};
  if (enabled) return ring.place.size == 0 ? Result<void>() : start(ring, number);
  ring.started = ring.look = false;
  return {};
}

Result<void> Backend::set_state(Verb verb, const RingState& state) {
  TRY(auto ring, verb == Verb::set_vring_enable ? find(state.ring) : find_stopped(state.ring));
  if (verb == Verb::set_vring_enable) return enable(*ring, state.ring, state.value != 0);
  if (verb == Verb::set_vring_base) {
    if (state.value > 0xffff)
      return fail("ring", fmt::format("{} is not a valid index", state.value));
    ring->split.set_base(static_cast<std::uint16_t>(state.value));
    return {};
  }
  if (!SplitRing::is_size(state.value))
    return fail("ring", fmt::format("{} is not a valid queue size", state.value),
                fmt::format("use a power of two up to {}", kRingSizeMax));
  ring->place.size = state.value;
  return {};
}

Result<void> Backend::set_address(const RingAddress& address) {
  TRY(auto ring, find_stopped(address.ring));
  ring->place.descriptors = address.descriptors;
  ring->place.available = address.available;
  ring->place.used = address.used;
  return {};
}

Result<void> Backend::set_descriptor(Received& received) {
  const RingDescriptor& what = std::get<RingDescriptor>(received.payload);
  TRY(auto ring, find(what.ring));
  if (received.files.size() != (what.comes ? 1 : 0))
    return fail("vhost-user message",
                fmt::format("{} has the wrong number of descriptors: {}",
                            verb_name(received.header.verb), received.files.size()));
  Descriptor file = what.comes ? std::move(received.files.front()) : Descriptor();
  if (received.header.verb == Verb::set_vring_err) return {};
  // The client may send a descriptor that is not an eventfd, and reading or writing that descriptor
  // must not block a thread.
  if (file.is_open()) {
    const int flags = ::fcntl(file.get(), F_GETFL);
    if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags | O_NONBLOCK) != 0)
      return fail("vhost-user", "cannot make a descriptor non-blocking");
  }
  if (received.header.verb == Verb::set_vring_call) {
    ring->call = std::make_shared<const Descriptor>(std::move(file));
    return {};
  }
  if (!file.is_open() && (protocol_ & kInBand) == 0)
    return fail("vhost-user",
                "a ring without a kick descriptor needs polling, which is unsupported");
  ring->kick = std::move(file);
  return start(*ring, what.ring);
}

Result<void> Backend::start(Ring& ring, std::uint32_t number) const {
  if (ring.started) return {};
  if (ring.place.size == 0) return fail("ring", fmt::format("ring {} has no size yet", number));
  TRY(ring.split.place(ring.place));
  ring.started = true;
  ring.look = memory_ != nullptr;  // chains may have been offered while the ring was stopped
  return {};
}

Result<Ring*> Backend::halt(std::uint32_t ring) {
  auto found = find(ring);
  if (found) (*found)->started = (*found)->look = false;
  return found;
}

Result<void> Backend::send_base(std::uint32_t number) {
  TRY(auto ring, halt(number));
  if (ring->split.in_flight() != 0)
    return fail("vhost-user",
                fmt::format("ring {} was stopped while requests were in flight", number));
  ring->kick.reset();
  return connection_.answer_value(Verb::get_vring_base, RingState{number, ring->split.base()});
}

Result<void> Backend::want_kicks(Ring& ring, bool wanted) {
  ring.quiet = !wanted;
  return ring.split.want_kicks(*memory_, wanted);
}

Result<void> Backend::take_kick(Ring& ring) {
  if (!ring.kick.is_open()) return {};
  std::uint64_t count = 0;
  const ssize_t got = ::read(ring.kick.get(), &count, sizeof count);
  if (got != sizeof count && !(got < 0 && (errno == EAGAIN || errno == EINTR)))
    return fail("vhost-user", "a kick descriptor is not an eventfd");
  ring.look = ring.look || got == sizeof count;
  return {};
}

// ---- in-band notifications: kicks arrive on the socket, calls are sent on a separate channel

/// Handles a kick message. If the ring is stopped, its chains are taken later, when it is started.
Result<void> Backend::kick_in_band(std::uint32_t number) {
  if ((protocol_ & kInBand) == 0) return fail("vhost-user", "VRING_KICK was not negotiated");
  TRY(auto ring, find(number));
  if (ring->started) ring->look = true;
  return {};
}

Result<void> Backend::set_channel(std::vector<Descriptor>& files) {
  if ((protocol_ & kBackendRequests) == 0 || files.size() != 1)
    return fail("vhost-user", "SET_BACKEND_REQ_FD was not negotiated, or has no descriptor");
  channel_ = std::move(files.front());
  ack_bytes_ = 0;
  acks_due_ = 0;
  return {};
}

Result<void> Backend::interrupt(const Ring& ring) {
  const std::uint64_t one = 1;
  if (ring.call && ring.call->is_open()) {
    static_cast<void>(::write(ring.call->get(), &one, sizeof one) == sizeof one);
  } else if ((protocol_ & kInBand) != 0 && channel_.is_open()) {
    return call_in_band(static_cast<std::uint32_t>(&ring - rings_.data()));
  }
  return {};
}

/// Sends a VRING_CALL message. The send must not block, because the client may be waiting for this
/// device instead of reading.
Result<void> Backend::call_in_band(std::uint32_t ring) {
  const bool wants_ack = (protocol_ & kReplyAck) != 0;
  const std::vector<std::byte> message = ring_call(ring, wants_ack);
  const ssize_t sent =
      ::send(channel_.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(message.size())) {
    acks_due_ += wants_ack ? 1 : 0;
    return {};
  }
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
    return {};  // receive() will detect that the client has disconnected
  return fail("vhost-user", "the client stopped reading back-end requests");
}

Result<void> Backend::take_ack() {
  const ssize_t got =
      ::recv(channel_.get(), ack_.data() + ack_bytes_, ack_.size() - ack_bytes_, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) {
    channel_.reset();
    acks_due_ = 0;
    return {};
  }
  ack_bytes_ += static_cast<std::size_t>(got);
  if (ack_bytes_ < ack_.size()) return {};
  ack_bytes_ = 0;
  TRY(parse_ring_call_ack(ack_));
  if (acks_due_ == 0)
    return fail("vhost-user", "the client replied to a request that was not sent");
  --acks_due_;
  return {};
}

}  // namespace headcrash::vhost
