#pragma once
// The oracle's record of a workload: the states of every name and file, and the persistence points
// that cover them (oracle.h).
//
//   directory object --entries--> slot "foo" --bindings--> token --> file object
//                                 (operation, token or nothing)      blocks, sizes, attributes
//
// A token is one hard link. link() and create() create a token, rename() moves it from slot to
// slot, and unlink() ends it. A token therefore shows under at most one name at a time, which
// defines the atomicity of a rename. Two links to one file are two tokens of one object.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/promises.h"
#include "harness/oracle/horizon.h"
#include "harness/workload/operation.h"

namespace headcrash::oracle {

/// The number of a name that can be judged independently of all other names (lone_names.h).
using LoneName = std::uint32_t;
inline constexpr LoneName kNotLone = std::numeric_limits<LoneName>::max();

using ObjectId = std::size_t;  ///< index into WorkloadHistory::objects
using TokenId = std::size_t;   ///< index into WorkloadHistory::tokens
inline constexpr ObjectId kRoot = 0;
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// Who promises what a persistence point covers. POSIX permits sync() to schedule the writes and
/// return before they are done; Linux documents that sync() waits, like syncfs() (sync(2)).
enum class CoverTier : std::uint8_t { posix, documented };

struct Binding {
  std::size_t operation;         ///< the operation that created this binding
  std::optional<TokenId> token;  ///< nullopt if the name was removed
  bool by_rename = false;
  bool replaced = false;  ///< another file had the name before
  bool by_exchange = false;
  /// True if names are not atomic and the file had a third name in this directory during the
  /// exchange.
  bool had_third_name = false;
};
struct Cover {
  std::size_t operation;
  CoverTier tier;
};
/// The history of one name in a directory.
struct SlotHistory {
  std::string path;               ///< path when first used
  std::vector<Binding> bindings;  ///< before the first binding, the name does not exist
  std::vector<Cover> covers;
  LoneName lone = kNotLone;
};

/// A range of zeroes inside a block. If a block has several separate ranges, their positions are
/// unknown.
struct BlockHole {
  std::uint32_t first = 0, end = 0;
  bool many = false;
  bool operator==(const BlockHole&) const = default;
};
/// The bytes that a dump reports for a block that is not a stamp.
using BlockHead = std::array<std::byte, 32>;
/// An operation's change to the contents of blocks.
struct BlockEvent {
  enum class Kind : std::uint8_t {
    stamp,  ///< stamp of `version`; the last block contains only its first `bytes` bytes
    zero,
    trim,   ///< truncation inside a block: only its first `bytes` bytes remain
    hole,   ///< a range of zeroes inside one block
    patch,  ///< some bytes of a stamp, written inside one block
  };
  std::size_t operation;
  Kind kind = Kind::stamp;
  std::uint64_t first = 0, end = 0;  ///< block numbers
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  ///< number of bytes, 1 to 512
  std::uint32_t file = 0;   ///< file number in the stamp; differs if a clone shares the blocks
  /// Block number in the stamp minus block number in this file (block_content.h).
  std::int64_t displacement = 0;
  bool moved = false;  ///< by a MoveEvent, from another position in the same file
  /// for hole and patch: the changed range; for stamp: zeroed bytes in the source block
  BlockHole hole = {};
  std::optional<BlockHead> mixed = {};  ///< stamp only: BlockContent::mixed
};
/// A collapse or insert. Separate BlockEvents hold the contents that each block then has. After a
/// power cut, some blocks may still be in their old positions.
struct MoveEvent {
  std::size_t operation;
  std::uint64_t first = 0, blocks = 0;
  bool towards_the_end = false;  ///< true for insert, false for collapse
};
/// Allocation of space without a write, for blocks that had no space.
struct AllocationEvent {
  std::size_t operation;
  std::uint64_t first = 0, end = 0;  ///< block numbers
  bool stays = false;  ///< true for fallocate; false for a zeroed range, which may become a hole
};
/// The range of data that a persistence point covers. fsync, fdatasync and sync cover the whole
/// file; a write with O_SYNC covers only the range that it writes.
struct DataCover {
  std::size_t operation;
  CoverTier tier = CoverTier::posix;
  std::uint64_t first = 0, end = kEndless;  ///< block numbers
  std::uint64_t end_bytes = kEndless;
};

/// An upper bound on the attributes that a dump reports for an object, over all states of the
/// object.
struct ReportedAttributes {
  /// Value: maximum length in bytes of the name plus the value.
  std::map<std::string, std::size_t> longest;
  std::size_t bytes = 0;       ///< sum of `longest`
  std::size_t name_bytes = 0;  ///< total length of all attribute names, including NULs
};

struct ObjectHistory {
  FileType type = FileType::regular;
  bool subvolume = false;  ///< true for a subvolume
  std::size_t made_by = 0;
  std::uint32_t file = 0;                ///< file number in stamps; 0 before the first write
  std::set<std::uint32_t> shared_files;  ///< file numbers in the stamps of blocks that clones share
  std::string link_target;               ///< target of a symbolic link
  std::vector<TokenId> tokens;
  std::vector<BlockEvent> blocks;
  std::vector<MoveEvent> moves;
  std::vector<AllocationEvent> allocations;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;  ///< (operation, bytes)
  /// Pairs of an operation and the first block beyond the shorter of the two sizes.
  std::vector<std::pair<std::size_t, std::uint64_t>> truncations;
  std::vector<DataCover> data_covers;
  std::map<std::string, std::vector<std::pair<std::size_t, std::optional<std::string>>>> attributes;
  ReportedAttributes reported_attributes;
  /// Attributes that the kernel may have changed at an unknown time.
  std::set<std::string> unclear_attributes;
  // Other inode fields. Each pair is an operation and the value after it. Before the first pair the
  // value is unknown; nullopt is an unknown time.
  std::vector<std::pair<std::size_t, std::uint32_t>> modes;
  /// Pairs of an operation and the (user, group) after it.
  std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>> owners;
  std::vector<std::pair<std::size_t, std::uint32_t>> flags, projects;
  std::vector<std::pair<std::size_t, std::optional<std::int64_t>>> times, accesses;
  std::vector<Cover> attribute_covers;
  /// Persistence points that wrote this inode only because it is a new object's parent. They
  /// promise nothing about the inode's other fields.
  std::vector<std::size_t> inode_covers;
  std::map<std::string, SlotHistory> entries;  ///< a directory's entries
  bool unclear = false;  ///< a write failed with ENOSPC, so the contents are not judged
};

struct TokenHistory {
  ObjectId object;
  std::optional<std::size_t> removed_by;
  /// The link's previous and current (directory, name).
  std::vector<std::pair<ObjectId, std::string>> slots;
  LoneName lone = kNotLone;  ///< the link's only name, if that name is judged independently
};

/// Inode fields that must be observed in addition to names and contents.
struct Aspects {
  bool modes = false, owners = false, flags = false, projects = false, times = false,
       allocation = false;
};

struct WorkloadHistory {
  std::vector<ObjectHistory> objects;  ///< objects[0] is kRoot
  std::vector<TokenHistory> tokens;
  Timeline timeline;
  Aspects judged;
};

/// Follows a list of operations. Skipped operations are ignored. A file's contents are unclear
/// after a partial write.
Result<WorkloadHistory> follow_operations(
    std::span<const workload::Operation> operations, const adapters::Promises& promises,
    std::span<const workload::FailedOperation> failed_operations = {},
    std::span<const std::string> subjects = {});

}  // namespace headcrash::oracle
