#pragma once
// The oracle's record of a workload: the states of every name and file, and the persistence points
// that cover them (oracle.h).
//
//   directory object --entries--> slot "foo" --bindings--> token --> file object
//                                 (each an operation, and       (blocks, sizes,
//                                 a token or nothing)           attributes)
//
// A token is one hard link. link() and create() create a token, rename() moves it from slot to
// slot, and unlink() ends it. A rename is atomic if its token always has exactly one name. Two links
// to one file are two tokens of one object.

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

/// Identifies a name that can be judged independently of all other names (lone_names.h).
using LoneName = std::uint32_t;
inline constexpr LoneName kNotLone = std::numeric_limits<LoneName>::max();

using ObjectId = std::size_t;  ///< index into WorkloadHistory::objects
using TokenId = std::size_t;   ///< index into WorkloadHistory::tokens
inline constexpr ObjectId kRoot = 0;
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// The document that promises that a persistence point makes a change persistent: POSIX, or the
/// documentation of the system. An example is sync(): POSIX permits it to return before the writes
/// are done, whereas Linux documents that it waits for them, like syncfs() (sync(2)).
enum class CoverTier : std::uint8_t { posix, documented };

struct Binding {
  std::size_t operation;         ///< the operation that created this binding
  std::optional<TokenId> token;  ///< nullopt if the operation removed the name
  bool by_rename = false;
  bool replaced = false;  ///< the operation replaced a name that referred to another file
  bool by_exchange = false;
  /// True if the file system performs the exchange in several steps, one of which gives the file a
  /// temporary third name in this directory.
  bool had_third_name = false;
};
struct Cover {
  std::size_t operation;
  CoverTier tier;
};
/// The history of one name in one directory.
struct SlotHistory {
  std::string path;               ///< full path of the name at its first use
  std::vector<Binding> bindings;  ///< before the first binding, the name does not exist
  std::vector<Cover> covers;
  LoneName lone = kNotLone;
};

/// A range of zeroes inside a block. If there are several separate ranges, only their existence is
/// recorded (`many`).
struct BlockHole {
  std::uint32_t first = 0, end = 0;
  bool many = false;
  bool operator==(const BlockHole&) const = default;
};
/// The first bytes of a block. A dump reports these bytes if the block is not a stamp.
using BlockHead = std::array<std::byte, 32>;
/// A change that an operation makes to the bytes in a range of blocks.
struct BlockEvent {
  enum class Kind : std::uint8_t {
    stamp,  ///< the stamp of `version`; the last block has only its first `bytes` bytes
    zero,
    trim,   ///< truncation inside a block; the block's first `bytes` bytes remain
    hole,   ///< a range of zeroes inside one block
    patch,  ///< a write of some bytes of a stamp, inside one block
  };
  std::size_t operation;
  Kind kind = Kind::stamp;
  std::uint64_t first = 0, end = 0;  ///< block numbers
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  ///< number of bytes in the last block, 1 to 512
  /// File number in the stamp. If a clone shares the blocks, this is the number of the file that
  /// wrote them.
  std::uint32_t file = 0;
  /// The block number in the stamp minus the block number in this file (block_content.h).
  std::int64_t displacement = 0;
  bool moved = false;  ///< a MoveEvent brought the contents from another position in the same file
  /// For hole and patch: the range that was changed. For stamp: bytes that were already zeroed in
  /// the block from which the stamp was copied.
  BlockHole hole = {};
  std::optional<BlockHead> mixed = {};  ///< only for stamps; see BlockContent::mixed
};
/// Moves blocks, as collapse and insert do. BlockEvents with the same operation give the contents
/// of the blocks after the move. After a power cut, some blocks may still be at their old
/// positions.
struct MoveEvent {
  std::size_t operation;
  std::uint64_t first = 0, blocks = 0;
  bool towards_the_end = false;  ///< true for insert, false for collapse
};
/// Allocates space for the unallocated blocks of a range. Writes no data.
struct AllocationEvent {
  std::size_t operation;
  std::uint64_t first = 0, end = 0;  ///< block numbers
  /// True if fallocate reserved the space. False for a zeroed range, because such a range may
  /// become a hole.
  bool stays = false;
};
/// The range of a file's data that a persistence point covers. fsync, fdatasync and sync cover the
/// whole file. A write with O_SYNC covers only the data that it writes, although it covers
/// attributes and names as fsync does.
struct DataCover {
  std::size_t operation;
  CoverTier tier = CoverTier::posix;
  std::uint64_t first = 0, end = kEndless;  ///< block numbers
  std::uint64_t end_bytes = kEndless;
};

/// The maximum sizes of an object's attributes in a dump, over all states of the object.
struct ReportedAttributes {
  /// For each attribute, the maximum length of its name and value together, in bytes.
  std::map<std::string, std::size_t> longest;
  std::size_t bytes = 0;       ///< sum of `longest`
  std::size_t name_bytes = 0;  ///< total length of all attribute names, including terminating NULs
};

struct ObjectHistory {
  FileType type = FileType::regular;
  bool subvolume = false;  ///< the object is the root of a subvolume
  std::size_t made_by = 0;
  std::uint32_t file = 0;  ///< file number in stamps; 0 before the first write
  /// The file numbers in the stamps of blocks that may be shared with clones.
  std::set<std::uint32_t> shared_files;
  std::string link_target;
  std::vector<TokenId> tokens;
  std::vector<BlockEvent> blocks;
  std::vector<MoveEvent> moves;
  std::vector<AllocationEvent> allocations;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;  ///< (operation, bytes)
  /// One pair (operation, block) for each change of the file size. `block` is the first block
  /// beyond the smaller of the old and the new size.
  std::vector<std::pair<std::size_t, std::uint64_t>> truncations;
  std::vector<DataCover> data_covers;
  std::map<std::string, std::vector<std::pair<std::size_t, std::optional<std::string>>>> attributes;
  ReportedAttributes reported_attributes;
  /// Attributes that the kernel may have changed by itself, at an unknown time.
  std::set<std::string> unclear_attributes;
  // The other inode fields. Each pair contains an operation and the field's value after this
  // operation. Before the first pair, and where the value is nullopt, the field is unknown.
  std::vector<std::pair<std::size_t, std::uint32_t>> modes;
  /// In each pair, the value is a (user, group).
  std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>> owners;
  std::vector<std::pair<std::size_t, std::uint32_t>> flags, projects;
  std::vector<std::pair<std::size_t, std::optional<std::int64_t>>> times, accesses;
  std::vector<Cover> attribute_covers;
  /// Persistence points that wrote this inode only because it is the parent of a new object. Such a
  /// point promises nothing about the inode's fields.
  std::vector<std::size_t> inode_covers;
  std::map<std::string, SlotHistory> entries;
  bool unclear = false;  ///< a write failed with ENOSPC, so the contents cannot be judged
};

struct TokenHistory {
  ObjectId object;
  std::optional<std::size_t> removed_by;
  /// All (directory, name) pairs of the link, in the order in which it had them. The last one is
  /// its current name.
  std::vector<std::pair<ObjectId, std::string>> slots;
  /// Number of the link's lone name (lone_names.h), or kNotLone.
  LoneName lone = kNotLone;
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

/// Builds the history of a list of operations. Skipped operations are ignored. After a write that
/// failed with ENOSPC, the contents of the file are no longer judged.
Result<WorkloadHistory> follow_operations(
    std::span<const workload::Operation> operations, const adapters::Promises& promises,
    std::span<const workload::FailedOperation> failed_operations = {},
    std::span<const std::string> subjects = {});

}  // namespace headcrash::oracle
