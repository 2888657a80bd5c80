#pragma once
// The prewrite log. The new data and parity of a stripe update are logged before they are written
// to their home locations. A power cut between the writes to the home locations therefore leaves no
// stripe half updated (Solstice DiskSuite's RAID-5 regions; Peacock, Kamaraju, Agrawal 1998,
// section 3).
//
//   member 1, prewrite area, a ring         one update = one record on each member that it writes
//   | header | data rows | header | rows | ... free ... |
//
// All records of an update carry its sequence number, its stripe and the mask of members with a
// record. The update is complete if all its records, except those of failed members, have correct
// checksums. Each header also carries the *tail*: when the header was written, every update with a
// lower number was already at its home location. At power-on, the complete updates from the highest
// tail on are replayed in order. Log space is reused only once a tail beyond it is on the medium.
// Otherwise, a replay could apply an old update of a stripe after a newer one.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "plugin/model/array/raid_layout.h"
#include "plugin/model/core/store.h"

namespace headcrash::model {

struct PrewriteHeader {
  std::uint64_t array_id = 0;
  std::uint64_t sequence = 0;
  std::uint64_t tail = 0;
  std::uint64_t parts = 0;  ///< mask of the members that have a record of this update
  std::uint64_t home = 0;   ///< LBA of the home location on this member
  std::uint32_t sectors = 0;
  std::uint32_t member = 0;
  std::uint64_t at = 0;  ///< LBA of this header; a header found at another LBA is an invalid copy
  std::uint32_t payload_crc = 0;

  void encode(std::span<std::byte> sector) const;
  static std::optional<PrewriteHeader> decode(std::span<const std::byte> sector);
};

/// Allocates log space. Does no I/O.
class PrewriteLog {
 public:
  /// Sets up the rings. `align` is the physical sector size. Records never share a physical sector,
  /// because one torn write would then damage both.
  void open(std::uint32_t members, std::uint64_t first, std::uint64_t sectors, std::uint32_t align,
            std::uint64_t next_sequence);

  std::uint32_t header_sectors() const { return align_; }
  /// Returns the maximum payload of one record.
  static std::uint64_t payload_max(std::uint64_t area_sectors, std::uint32_t align);

  struct Place {
    std::uint64_t sequence = 0;
    std::array<std::uint64_t, kArrayMembersMax> at{};
  };
  /// Allocates space on every member of `parts`. Returns nullopt if a member's ring is full; the
  /// caller must then try again after home() or tail_durable().
  std::optional<Place> reserve(std::uint64_t parts, std::span<const std::uint32_t> payload_sectors);
  std::uint64_t tail() const { return live_.empty() ? next_sequence_ : *live_.begin(); }
  void home(std::uint64_t sequence);
  /// Records that a header or superblock with this tail has reached the medium.
  void tail_durable(std::uint64_t tail);
  bool needs_durable_tail() const { return tail() > durable_tail_; }
  std::size_t live() const { return live_.size(); }
  std::uint64_t next_sequence() const { return next_sequence_; }

 private:
  struct Record {
    std::uint64_t sequence;
    /// Sectors used by the record, including those skipped at the end of the ring.
    std::uint64_t used;
  };
  struct Ring {
    std::uint64_t head = 0, used = 0;
    std::deque<Record> records;
  };
  std::array<Ring, kArrayMembersMax> rings_;
  std::set<std::uint64_t> live_;
  std::uint64_t first_ = 0, sectors_ = 0;
  std::uint32_t align_ = 1;
  std::uint64_t next_sequence_ = 1, durable_tail_ = 0;
};

}  // namespace headcrash::model
