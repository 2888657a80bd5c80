#pragma once
// The device side of the vhost-user protocol for one client: negotiated features, shared memory,
// rings and notifications. It has no threads and no lock, and does not decide when commands are
// executed; a session does (session.h, plugin/servers/timetravel/guest_disk.h).

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/servers/vhost/block_command.h"
#include "plugin/servers/vhost/connection.h"

namespace headcrash::vhost {

struct Ring {
  SplitRing split;
  RingPlace place;
  bool started = false, enabled = false;
  bool look = false;   ///< chains may be waiting without a kick
  bool quiet = false;  ///< the driver was asked to send no kicks
  base::Descriptor kick;
  std::shared_ptr<const base::Descriptor> call;

  bool runs() const { return started && enabled; }
};

class Backend {
 public:
  /// All of them must outlive this object.
  Backend(const Connection& connection, const Disk& disk, std::uint16_t rings);

  /// Handles a message and answers it. Errors describe the client's fault.
  Result<void> handle(Received& received);
  /// The first half of handle(), for a message without a reply.
  Result<void> obey(Received& received);
  /// The second half: acknowledges the message if the client requested it.
  Result<void> acknowledge(const Received& received) const;

  /// Stops a ring (GET_VRING_BASE): it returns no chains from now on. REQUIRES of handle(): it has
  /// none in flight.
  Result<Ring*> halt(std::uint32_t ring);

  std::vector<Ring>& rings() { return rings_; }
  /// Null until the client has shared memory.
  const std::shared_ptr<const GuestMemory>& memory() const { return memory_; }

  /// Returns the next waiting chain of a ring, if any. REQUIRES: memory.
  Result<std::optional<Chain>> take(Ring& ring) { return ring.split.take(*memory_); }
  Result<void> want_kicks(Ring& ring, bool wanted);
  /// Reads the ring's kick descriptor, if it has one, and sets `look` if chains may be waiting.
  static Result<void> take_kick(Ring& ring);

  /// Notifies the driver of completed chains. A counter at its limit already has an unhandled
  /// interrupt. Fails if the client does not read.
  Result<void> interrupt(const Ring& ring);
  /// The channel for interrupts sent as messages; -1 without a channel.
  int channel() const { return channel_.get(); }
  /// Reads an answer from it, or a part of one.
  Result<void> take_ack();
  /// Number of interrupts that the client has not acknowledged yet.
  std::uint64_t acks_due() const { return acks_due_; }

 private:
  Result<void> set_features(std::uint64_t chosen);
  Result<void> send_config(const ConfigPart& part) const;
  Result<Ring*> find(std::uint32_t ring);
  Result<Ring*> find_stopped(std::uint32_t ring);
  Result<void> set_state(Verb verb, const RingState& state);
  Result<void> set_address(const RingAddress& address);
  Result<void> set_descriptor(Received& received);
  Result<void> enable(Ring& ring, std::uint32_t number, bool enabled);
  Result<void> start(Ring& ring, std::uint32_t number) const;
  Result<void> send_base(std::uint32_t ring);
  Result<void> kick_in_band(std::uint32_t ring);
  Result<void> set_channel(std::vector<base::Descriptor>& files);
  Result<void> call_in_band(std::uint32_t ring);

  const Connection& connection_;
  const Disk& disk_;
  const std::uint64_t features_;
  std::uint64_t protocol_ = 0;
  std::shared_ptr<const GuestMemory> memory_;
  std::vector<Ring> rings_;
  base::Descriptor channel_;  ///< the channel of our requests
  std::array<std::byte, kAckBytes> ack_ = {};
  std::size_t ack_bytes_ = 0;
  std::uint64_t acks_due_ = 0;
};

}  // namespace headcrash::vhost
