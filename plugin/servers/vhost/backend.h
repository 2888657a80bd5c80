#pragma once
// The device side of the vhost-user protocol for one client: negotiated features, shared memory,
// rings and notifications. The class has no threads and no lock. Its owner decides when commands
// are executed (session.h, plugin/servers/timetravel/guest_disk.h).

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
  bool look = false;   ///< chains may be waiting even if there was no kick
  bool quiet = false;  ///< the driver has been asked not to send kicks
  base::Descriptor kick;
  std::shared_ptr<const base::Descriptor> call;

  bool runs() const { return started && enabled; }
};

class Backend {
 public:
  /// `connection` and `disk` must outlive this object.
  Backend(const Connection& connection, const Disk& disk, std::uint16_t rings);

  /// Handles a message and answers it. Errors describe how the client violated the protocol.
  Result<void> handle(Received& received);
  /// The first half of handle(): executes a message. Sufficient for messages that need no reply.
  Result<void> obey(Received& received);
  /// The second half of handle(): sends an acknowledgement if the client requested one.
  Result<void> acknowledge(const Received& received) const;

  /// Stops a ring; the ring then returns no further chains. Used for GET_VRING_BASE, which handle()
  /// rejects while a chain of the ring is in flight.
  Result<Ring*> halt(std::uint32_t ring);

  std::vector<Ring>& rings() { return rings_; }
  /// Null until the client has shared its memory.
  const std::shared_ptr<const GuestMemory>& memory() const { return memory_; }

  /// Returns the next waiting chain of a ring, if any. REQUIRES: memory() is not null.
  Result<std::optional<Chain>> take(Ring& ring) { return ring.split.take(*memory_); }
  Result<void> want_kicks(Ring& ring, bool wanted);
  /// Reads the ring's kick descriptor, if it has one. Sets `ring.look` if chains may be waiting.
  static Result<void> take_kick(Ring& ring);

  /// Notifies the driver of completed chains. If the counter of the eventfd is at its limit, an
  /// interrupt is already pending. Fails if the client does not read its messages.
  Result<void> interrupt(const Ring& ring);
  /// Returns the channel on which interrupts are sent as messages; -1 if there is no channel.
  int channel() const { return channel_.get(); }
  /// Reads an acknowledgement, or part of one, from the channel.
  Result<void> take_ack();
  /// Returns the number of interrupts that the client has not yet acknowledged.
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
  base::Descriptor channel_;  ///< carries requests from the back-end to the client
  std::array<std::byte, kAckBytes> ack_ = {};
  std::size_t ack_bytes_ = 0;
  std::uint64_t acks_due_ = 0;
};

}  // namespace headcrash::vhost
