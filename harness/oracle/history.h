#pragma once
// What the oracle remembers of a workload: the states of every name and file, and the persistence
// points that cover them (oracle.h).
//
//   directory object --entries--> slot "foo" --bindings--> token --> file object
//                                 (operation, token or nothing)      blocks, sizes, attributes
//
// A token is one hard link. link() and create() make one, rename() moves it from slot to slot,
// unlink() ends it. A token therefore shows under at most one name at a time, and that is what "a
// rename is atomic" means; two links to one file are two tokens of one object.

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

/// Of a name that is judged by itself (lone_names.h).
using LoneName = std::uint32_t;
inline constexpr LoneName kNotLone = std::numeric_limits<LoneName>::max();

using ObjectId = std::size_t;  ///< index into WorkloadHistory::objects
using TokenId = std::size_t;   ///< index into WorkloadHistory::tokens
inline constexpr ObjectId kRoot = 0;
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// By whose word a persistence point covers something. POSIX lets sync() schedule the writes and
/// return; that it waits, as syncfs() does, is Linux's word (sync(2)), and so documented.
enum class CoverTier : std::uint8_t { posix, documented };

struct Binding {
  std::size_t operation;         ///< the operation that made it
  std::optional<TokenId> token;  ///< nothing: the name was removed
  bool by_rename = false;
  bool replaced = false;  ///< another file had the name
  bool by_exchange = false;
  /// The exchange called the file by a third name in this directory for a while, where names are
  /// not atomic.
  bool had_third_name = false;
};
struct Cover {
  std::size_t operation;
  CoverTier tier;
};
/// One name of one directory.
struct SlotHistory {
  std::string path;               ///< when it was first used
  std::vector<Binding> bindings;  ///< before the first: the name does not exist
  std::vector<Cover> covers;
  LoneName lone = kNotLone;
};

/// Zeroes in a block from a byte on up to another. Nothing is known of which bytes they are where
/// several do not join.
struct BlockHole {
  std::uint32_t first = 0, end = 0;
  bool many = false;
  bool operator==(const BlockHole&) const = default;
};
/// What a dump tells of a block that is no stamp.
using BlockHead = std::array<std::byte, 32>;
/// From an operation on, blocks hold something else.
struct BlockEvent {
  enum class Kind : std::uint8_t {
    stamp,  ///< `version`; the last block only in its first `bytes`
    zero,
    trim,   ///< truncated in the middle of a block: only its first `bytes` stay
    hole,   ///< zeroes in the middle of one block
    patch,  ///< bytes of a stamp in the middle of one block
  };
  std::size_t operation;
  Kind kind = Kind::stamp;
  std::uint64_t first = 0, end = 0;  ///< blocks
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  ///< 1 to 512
  std::uint32_t file = 0;   ///< of the stamp: another's where a clone shares its blocks
  std::int64_t displacement =
      0;               ///< the block's number in its stamp, less that in this file (held.h)
  bool moved = false;  ///< by a MoveEvent, from another place of the same file
  BlockHole hole =
      {};  ///< hole, patch: where; of a stamp: what has been zeroed in it where it comes from
  std::optional<BlockHead> mixed = {};  ///< of a stamp: as Held has it
};
/// collapse and insert. What they make of each block is in events of their own; a cut may also
/// leave blocks that have not moved yet.
struct MoveEvent {
  std::size_t operation;
  std::uint64_t first = 0, blocks = 0;
  bool towards_the_end = false;  ///< insert
};
/// Room was made, without a write: blocks for what had none.
struct AllocationEvent {
  std::size_t operation;
  std::uint64_t first = 0, end = 0;  ///< blocks
  bool stays = false;  ///< fallocate proper, not a range of zeroes, which may be a hole
};
/// fsync, fdatasync and sync cover everything, a write with O_SYNC what it wrote.
struct DataCover {
  std::size_t operation;
  CoverTier tier = CoverTier::posix;
  std::uint64_t first = 0, end = kEndless;  ///< blocks
  std::uint64_t end_bytes = kEndless;
};

/// Bounds what a dump reports of one object's attributes, whichever of their states it has.
struct ReportedAttributes {
  std::map<std::string, std::size_t> longest;  ///< bytes of each name with its longest value
  std::size_t bytes = 0;                       ///< sum of `longest`
  std::size_t name_bytes = 0;                  ///< of all names, with their NULs
};

struct ObjectHistory {
  FileType type = FileType::regular;
  bool subvolume = false;  ///< of a directory
  std::size_t made_by = 0;
  std::uint32_t file = 0;                ///< its number in stamps; 0 before the first write
  std::set<std::uint32_t> shared_files;  ///< the numbers in stamps that clones gave it
  std::string link_target;               ///< of a symbolic link
  std::vector<TokenId> tokens;
  std::vector<BlockEvent> blocks;
  std::vector<MoveEvent> moves;
  std::vector<AllocationEvent> allocations;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;  ///< (operation, bytes)
  /// (operation, first block behind the shorter of the two ends)
  std::vector<std::pair<std::size_t, std::uint64_t>> truncations;
  std::vector<DataCover> data_covers;
  std::map<std::string, std::vector<std::pair<std::size_t, std::optional<std::string>>>> attributes;
  ReportedAttributes reported_attributes;
  std::set<std::string>
      unclear_attributes;  ///< the kernel may have changed them, when is not known
  // What an inode says besides, from an operation on; before the first nobody knows. Nothing: some
  // other time.
  std::vector<std::pair<std::size_t, std::uint32_t>> modes;
  std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>>
      owners;  ///< user, group
  std::vector<std::pair<std::size_t, std::uint32_t>> flags, projects;
  std::vector<std::pair<std::size_t, std::optional<std::int64_t>>> times, accesses;
  std::vector<Cover> attribute_covers;
  std::vector<std::size_t>
      inode_covers;  ///< wrote the inode, as a new parent's, and promise nothing of the rest
  std::map<std::string, SlotHistory> entries;  ///< of a directory
  bool unclear = false;  ///< a write to it found no room: its content is not judged
};

struct TokenHistory {
  ObjectId object;
  std::optional<std::size_t> removed_by;
  std::vector<std::pair<ObjectId, std::string>> slots;  ///< where it has been: directory and name
  LoneName lone = kNotLone;                             ///< of its one name
};

/// What has to be observed beside names and content.
struct Aspects {
  bool modes = false, owners = false, flags = false, projects = false, times = false,
       allocation = false;
};

struct WorkloadHistory {
  std::vector<ObjectHistory> objects;  ///< kRoot first
  std::vector<TokenHistory> tokens;
  Timeline timeline;
  Aspects judged;
};

/// Operations that did not happen are left out; the content of files whose write was partial is
/// unclear.
Result<WorkloadHistory> follow_operations(
    std::span<const workload::Operation> operations, const adapters::Promises& promises,
    std::span<const workload::FailedOperation> failed_operations = {},
    std::span<const std::string> subjects = {});

}  // namespace headcrash::oracle
