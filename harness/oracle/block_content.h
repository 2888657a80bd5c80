#pragma once
// The content of one block of a file, as determined by the events of its history (history.h).
//
// A stamp names the file and block for which it was written. A block that collapse or insert has
// moved, or that a clone shares, shows a different block number. The difference is its
// displacement, which is equal for all blocks that moved together.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {

/// The content of a block: zeroes, or the first `bytes` of a stamp followed by arbitrary bytes.
struct BlockContent {
  bool zero = true;
  std::uint32_t file = 0, version = 0, bytes = workload::kStampBytes;
  std::int64_t displacement = 0;  ///< block number in the stamp minus block number in the file
  BlockHole hole = {};            ///< zeroed bytes inside the stamp
  /// The first bytes of a block made by two writes, which is not a stamp; `version` is the newer
  /// one. Unknown for a block with holes in several places.
  std::optional<BlockHead> mixed = {};

  /// True if it reads as zeroes. The first byte of a stamp is zero (stamp.h).
  bool reads_as_zeroes() const {
    return zero || (!mixed && (bytes <= 1 || (hole.first <= 1 && hole.end >= bytes)));
  }
  bool is_unknown() const { return mixed && hole.many; }
  bool has_hole() const { return !zero && hole.end > 0; }
  bool same_stamp(const BlockContent& other) const {
    return !zero && !other.zero && !mixed && !other.mixed && file == other.file &&
           version == other.version && displacement == other.displacement;
  }
};

/// Returns the block's first bytes, as far as known.
BlockHead head_of(const BlockContent& held, std::uint64_t block);

/// Returns the content that the event puts into a block of its range. `before` is the content that
/// a truncation shortens or a hole interrupts.
BlockContent made_by(const BlockEvent& event, std::uint64_t block, const BlockContent& before);

/// Returns the content of the block after the event. A write changes nothing if its few bytes equal
/// those of the stamp before.
BlockContent after(const BlockEvent& event, std::uint64_t block, const BlockContent& before);

/// Returns the blocks at which the history changes. All blocks between two of them have the same
/// history.
std::set<std::uint64_t> borders(const ObjectHistory& object);

/// Adjacent blocks with equal content.
struct Stretch {
  std::uint64_t first = 0, end = 0;
  BlockContent held;
};
/// Returns the content of blocks `first` to `end` after all events of the history.
std::vector<Stretch> content_now(const ObjectHistory& object, std::uint64_t first,
                                 std::uint64_t end);

}  // namespace headcrash::oracle
