#pragma once
// The device's side of the vhost-user protocol for one client: what was negotiated, the memory that
// is shared, the rings and how each side tells the other of them. It decides nothing about when
// commands are carried out, has no threads and no lock: a session (session.h,
// plugin/servers/timetravel/guest_disk.h) does that.

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
  bool look = false;   ///< chains may wait of which no kick will tell
  bool quiet = false;  ///< the driver was asked for no kicks
  base::Descriptor kick;
  std::shared_ptr<const base::Descriptor> call;

  bool runs() const { return started && enabled; }
};

class Backend {
 public:
  /// All must outlive it.
  Backend(const Connection& connection, const Disk& disk, std::uint16_t rings);

  /// Does what a message asks for and answers it. Errors are what the client did wrong.
  Result<void> handle(Received& received);
  /// The first half of it, for a message that is not a question.
  Result<void> obey(Received& received);
  /// The second: when the client wants to know that it was done.
  Result<void> acknowledge(const Received& received) const;

  /// A ring that is to stop (GET_VRING_BASE) gives no chains from now on. REQUIRES of handle(): it
  /// has none in flight.
  Result<Ring*> halt(std::uint32_t ring);

  std::vector<Ring>& rings() { return rings_; }
  /// Null before the client has shared any.
  const std::shared_ptr<const GuestMemory>& memory() const { return memory_; }

  /// The next chain that waits in a ring, if there is one. REQUIRES: memory.
  Result<std::optional<Chain>> take(Ring& ring) { return ring.split.take(*memory_); }
  Result<void> want_kicks(Ring& ring, bool wanted);
  /// Reads the ring's kick descriptor, if it has one; `look` says whether there is something to
  /// look for.
  static Result<void> take_kick(Ring& ring);

  /// Tells the driver that chains of a ring have been handed back. A counter at its limit has an
  /// interrupt that nobody has taken yet. Error: the client does not read.
  Result<void> interrupt(const Ring& ring);
  /// The channel of interrupts that are messages; -1: there is none.
  int channel() const { return channel_.get(); }
  /// Reads from it an answer, or a part of one.
  Result<void> take_ack();
  /// Interrupts of which the client has not said yet that it has seen them.
  std::uint64_t acks_due() const { return acks_due_; }

 private:
  Result<void> set_features(std::uint64_t chosen);
  Result<void> tell_config(const ConfigPart& part) const;
  Result<Ring*> find(std::uint32_t ring);
  Result<Ring*> find_stopped(std::uint32_t ring);
  Result<void> set_state(Verb verb, const RingState& state);
  Result<void> set_address(const RingAddress& address);
  Result<void> set_descriptor(Received& received);
  Result<void> enable(Ring& ring, std::uint32_t number, bool enabled);
  Result<void> start(Ring& ring, std::uint32_t number) const;
  Result<void> tell_base(std::uint32_t ring);
  Result<void> kick_in_band(std::uint32_t ring);
  Result<void> set_channel(std::vector<base::Descriptor>& files);
  Result<void> call_in_band(std::uint32_t ring);

  const Connection& connection_;
  const Disk& disk_;
  const std::uint64_t features_;
  std::uint64_t protocol_ = 0;
  std::shared_ptr<const GuestMemory> memory_;
  std::vector<Ring> rings_;
  base::Descriptor channel_;  ///< on which we ask
  std::array<std::byte, kAckBytes> ack_ = {};
  std::size_t ack_bytes_ = 0;
  std::uint64_t acks_due_ = 0;
};

}  // namespace headcrash::vhost
