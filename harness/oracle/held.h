#pragma once
// What one block of a file holds, as the events of its history make it (history.h).
//
// A stamp names the file and the block that it was written to. A block that collapse or insert has
// moved, or that a clone shares, shows the number of another one: the difference is its
// displacement, which is the same for all blocks that moved together.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {

/// Zeroes, or the first `bytes` of a stamp and anything after them.
struct Held {
  bool zero = true;
  std::uint32_t file = 0, version = 0, bytes = workload::kStampBytes;
  std::int64_t displacement = 0;  ///< the block's number in the stamp, less its number here
  BlockHole hole = {};            ///< in the stamp
  /// How a block begins that two writes have made, which is no stamp: `version` is the newer one's.
  /// With holes in many places nothing is known of it.
  std::optional<BlockHead> mixed = {};

  /// The first byte of a stamp is zero (stamp.h).
  bool reads_as_zeroes() const {
    return zero || (!mixed && (bytes <= 1 || (hole.first <= 1 && hole.end >= bytes)));
  }
  bool is_unknown() const { return mixed && hole.many; }
  bool has_hole() const { return !zero && hole.end > 0; }
  bool same_stamp(const Held& other) const {
    return !zero && !other.zero && !mixed && !other.mixed && file == other.file &&
           version == other.version && displacement == other.displacement;
  }
};

/// Its first bytes, as far as they are known.
BlockHead head_of(const Held& held, std::uint64_t block);

/// What the event, whose range the block is in, puts there; `before` is what a truncation shortens,
/// or a hole is made in.
Held made_by(const BlockEvent& event, std::uint64_t block, const Held& before);

/// What the block holds after it. A write of so few bytes of a stamp that it is the same up to
/// there as the one before changes nothing.
Held after(const BlockEvent& event, std::uint64_t block, const Held& before);

/// Where the history of the blocks changes: between two of them all blocks have the same.
std::set<std::uint64_t> borders(const ObjectHistory& object);

/// Neighbouring blocks that hold the same.
struct Stretch {
  std::uint64_t first = 0, end = 0;
  Held held;
};
/// What blocks `first` to `end` hold when all that the history knows of has been done.
std::vector<Stretch> content_now(const ObjectHistory& object, std::uint64_t first,
                                 std::uint64_t end);

}  // namespace headcrash::oracle
