#pragma once
// The device side of a split virtqueue (virtio 1.1, section 2.6). Everything that the driver writes
// is read once and then checked. A chain is invalid if it loops, extends past its table or the
// shared memory, or is longer than the queue. An invalid chain ends the connection.
//
//   descriptors   { address, length, flags, next } * size       driver writes
//   available     flags, index, head * size                     driver writes: waiting chains
//   used          flags, index, { head, length } * size         device writes: completed chains

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/servers/vhost/guest_memory.h"

namespace headcrash::vhost {

inline constexpr std::uint32_t kRingSizeMax = 1024;

struct Segment {
  std::uint64_t guest_address = 0;
  std::uint32_t bytes = 0;
};
struct Chain {
  std::uint16_t head = 0;
  std::vector<Segment> readable;  ///< segments that the device reads
  std::vector<Segment> writable;
};

/// The locations of a ring's parts, as addresses in the client's address space.
struct RingPlace {
  std::uint32_t size = 0;
  std::uint64_t descriptors = 0, available = 0, used = 0;
};

class SplitRing {
 public:
  /// Returns true if `size` is a power of two up to kRingSizeMax.
  static bool is_size(std::uint64_t size);

  /// Sets the locations of the ring's parts. Fails if a part is misaligned.
  Result<void> place(const RingPlace& place);
  void set_indirect(bool negotiated) { indirect_ = negotiated; }
  /// Sets the index of the next chain in `available`, and sets the index in `used` to the same
  /// value.
  void set_base(std::uint16_t index) { next_available_ = next_used_ = index; }
  std::uint16_t base() const { return next_available_; }
  std::uint32_t in_flight() const { return in_flight_; }

  /// Asks the driver to send kicks, or to send none. After enabling kicks, the caller must examine
  /// the ring once more.
  Result<void> want_kicks(const GuestMemory& memory, bool wanted) const;
  std::uint32_t size() const { return place_.size; }

  /// Returns the next waiting chain, if any.
  Result<std::optional<Chain>> take(const GuestMemory& memory);
  /// Hands a chain back, together with the number of bytes that were written to it. Returns true if
  /// the driver wants an interrupt.
  Result<bool> give_back(const GuestMemory& memory, std::uint16_t head, std::uint32_t written);

 private:
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint16_t flags, next;
  };
  Result<void> walk(const GuestMemory& memory, const std::byte* table, std::uint32_t entries,
                    std::uint32_t first, Chain& chain, bool inside_indirect) const;
  Result<void> append(const GuestMemory& memory, const Descriptor& descriptor, Chain& chain) const;
  Result<void> follow(const GuestMemory& memory, const Descriptor& descriptor, Chain& chain) const;

  RingPlace place_;
  bool indirect_ = false;
  std::uint16_t next_available_ = 0, next_used_ = 0;
  std::uint32_t in_flight_ = 0;
};

}  // namespace headcrash::vhost
