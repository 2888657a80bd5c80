#pragma once
// The contents of one block of a file, computed from the events in the file's history (history.h).
//
// A stamp contains the numbers of the file and the block for which it was written. After a
// collapse, insert or clone, a block holds a stamp with another block number. The difference
// between the two numbers is the block's displacement. Blocks that were moved together have equal
// displacements.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "harness/oracle/history.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {

/// The contents of a block: either zeroes, or the first `bytes` bytes of a stamp followed by
/// arbitrary bytes.
struct BlockContent {
  bool zero = true;
  std::uint32_t file = 0, version = 0, bytes = workload::kStampBytes;
  std::int64_t displacement = 0;  ///< block number in the stamp minus block number in the file
  BlockHole hole = {};            ///< zeroed bytes inside the stamp
  /// The first bytes of a block that contains parts of two writes. Such a block is not a stamp.
  /// `version` is the version of the later write. If is_unknown() is true, for example because the
  /// block has several holes, the bytes are meaningless.
  std::optional<BlockHead> mixed = {};

  /// Returns true if the block may read as zeroes. This may be true even of a stamp, because its
  /// first byte is zero (stamp.h). If the block has several holes, they may cover all of it or not.
  bool may_read_as_zeroes() const {
    return zero || (!mixed && (bytes <= 1 || (hole.first <= 1 && hole.end >= bytes)));
  }
  bool is_unknown() const { return mixed && hole.many; }
  bool has_hole() const { return !zero && hole.end > 0; }
  bool same_stamp(const BlockContent& other) const {
    return !zero && !other.zero && !mixed && !other.mixed && file == other.file &&
           version == other.version && displacement == other.displacement;
  }
};

/// Returns the first bytes of the block, if they are known.
BlockHead head_of(const BlockContent& held, std::uint64_t block);

/// Returns the contents that the event gives to a block in the event's range. `before` holds the
/// previous contents; a truncation or a punched hole may keep a part of them.
BlockContent made_by(const BlockEvent& event, std::uint64_t block, const BlockContent& before);

/// Returns the contents of the block after the event. If a short write leaves all bytes of the
/// previous stamp unchanged, the contents remain the same.
BlockContent after(const BlockEvent& event, std::uint64_t block, const BlockContent& before);

using BlockBytes = std::array<std::byte, workload::kStampBytes>;

/// Applies the event to the bytes of a block in the event's range. Returns false if the result is
/// unknown, for example because the block was moved or cloned.
bool apply_exactly(const BlockEvent& event, std::uint64_t block, std::uint32_t file,
                   BlockBytes& bytes);

/// Returns the block numbers at which the history changes. All blocks from one of these numbers up
/// to the next one have the same history.
std::set<std::uint64_t> borders(const ObjectHistory& object);

/// Adjacent blocks with equal content.
struct Stretch {
  std::uint64_t first = 0, end = 0;
  BlockContent held;
};
/// Returns the contents of the blocks from `first` to `end` after all events in the history.
std::vector<Stretch> content_now(const ObjectHistory& object, std::uint64_t first,
                                 std::uint64_t end);

}  // namespace headcrash::oracle
