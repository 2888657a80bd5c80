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

/// Number of a name that is judged independently of others (lone_names.h).
using LoneName = std::uint32_t;
inline constexpr LoneName kNotLone = std::numeric_limits<LoneName>::max();

using ObjectId = std::size_t;  ///< index into WorkloadHistory::objects
using TokenId = std::size_t;   ///< index into WorkloadHistory::tokens
inline constexpr ObjectId kRoot = 0;
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// The authority by which a persistence point covers a change. POSIX permits sync() to schedule the
/// writes and return; Linux documents that it waits, like syncfs() (sync(2)).
enum class CoverTier : std::uint8_t { posix, documented };

struct Binding {
  std::size_t operation;         ///< the operation that created it
  std::optional<TokenId> token;  ///< nullopt if the name was removed
  bool by_rename = false;
  bool replaced = false;  ///< another file had the name before
  bool by_exchange = false;
  /// During the exchange, the file had a third name in this directory, if names are not atomic.
  bool had_third_name = false;
};
struct Cover {
  std::size_t operation;
  CoverTier tier;
};
/// The history of one name in a directory.
struct SlotHistory {
  std::string path;               ///< path at its first use
  std::vector<Binding> bindings;  ///< before the first binding, the name does not exist
  std::vector<Cover> covers;
  LoneName lone = kNotLone;
};

/// A range of zeroes in a block. Their positions are unknown if there are several separate ranges.
struct BlockHole {
  std::uint32_t first = 0, end = 0;
  bool many = false;
  bool operator==(const BlockHole&) const = default;
};
/// The part that a dump reports of a block which is not a stamp.
using BlockHead = std::array<std::byte, 32>;
/// A change to the content of blocks by an operation.
struct BlockEvent {
  enum class Kind : std::uint8_t {
    stamp,  ///< stamp of `version`; the last block has only its first `bytes`
    zero,
    trim,   ///< truncation inside a block: only its first `bytes` remain
    hole,   ///< zeroes inside one block
    patch,  ///< bytes of a stamp inside one block
  };
  std::size_t operation;
  Kind kind = Kind::stamp;
  std::uint64_t first = 0, end = 0;  ///< in blocks
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  ///< 1 to 512
  std::uint32_t file = 0;   ///< file number in the stamp; differs if a clone shares the blocks
  /// Block number in its stamp minus block number in this file (block_content.h).
  std::int64_t displacement = 0;
  bool moved = false;   ///< by a MoveEvent, from another position in the same file
  BlockHole hole = {};  ///< hole, patch: its position; stamp: zeroed bytes in the source block
  std::optional<BlockHead> mixed = {};  ///< of a stamp: same as in BlockContent
};
/// A collapse or insert. Separate events hold the content of each block afterwards. A cut may also
/// leave blocks that have not moved yet.
struct MoveEvent {
  std::size_t operation;
  std::uint64_t first = 0, blocks = 0;
  bool towards_the_end = false;  ///< true for insert
};
/// Allocation of space without a write, for blocks that had none.
struct AllocationEvent {
  std::size_t operation;
  std::uint64_t first = 0, end = 0;  ///< in blocks
  bool stays = false;  ///< true for fallocate proper, false for a zeroed range, which may be a hole
};
/// The range of data that a persistence point covers. fsync, fdatasync and sync cover everything, a
/// write with O_SYNC the written range.
struct DataCover {
  std::size_t operation;
  CoverTier tier = CoverTier::posix;
  std::uint64_t first = 0, end = kEndless;  ///< in blocks
  std::uint64_t end_bytes = kEndless;
};

/// An upper bound on the reported attributes of an object, for all their possible states.
struct ReportedAttributes {
  std::map<std::string, std::size_t> longest;  ///< maximum bytes by name and longest value
  std::size_t bytes = 0;                       ///< sum of `longest`
  std::size_t name_bytes = 0;                  ///< total length of all names, including NULs
};

struct ObjectHistory {
  FileType type = FileType::regular;
  bool subvolume = false;  ///< true for a subvolume
  std::size_t made_by = 0;
  std::uint32_t file = 0;                ///< number in stamps; 0 before the first write
  std::set<std::uint32_t> shared_files;  ///< stamp numbers of files whose blocks clones share
  std::string link_target;               ///< target of a symbolic link
  std::vector<TokenId> tokens;
  std::vector<BlockEvent> blocks;
  std::vector<MoveEvent> moves;
  std::vector<AllocationEvent> allocations;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;  ///< (operation, bytes)
  /// (operation, first block beyond the shorter of the two sizes)
  std::vector<std::pair<std::size_t, std::uint64_t>> truncations;
  std::vector<DataCover> data_covers;
  std::map<std::string, std::vector<std::pair<std::size_t, std::optional<std::string>>>> attributes;
  ReportedAttributes reported_attributes;
  /// The kernel may have changed these at an unknown time.
  std::set<std::string> unclear_attributes;
  // Other values of the inode, from an operation on. Unknown before the first; nullopt for an
  // unknown time.
  std::vector<std::pair<std::size_t, std::uint32_t>> modes;
  /// User, group.
  std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>> owners;
  std::vector<std::pair<std::size_t, std::uint32_t>> flags, projects;
  std::vector<std::pair<std::size_t, std::optional<std::int64_t>>> times, accesses;
  std::vector<Cover> attribute_covers;
  /// Wrote the inode as that of a new parent, without a promise about the rest.
  std::vector<std::size_t> inode_covers;
  std::map<std::string, SlotHistory> entries;  ///< entries of a directory
  bool unclear = false;  ///< a write found no space, so the content is not judged
};

struct TokenHistory {
  ObjectId object;
  std::optional<std::size_t> removed_by;
  std::vector<std::pair<ObjectId, std::string>> slots;  ///< its previous and current places:
                                                        ///< directory and name
  LoneName lone = kNotLone;                             ///< its only name, if judged independently
};

/// Aspects that must be observed in addition to names and content.
struct Aspects {
  bool modes = false, owners = false, flags = false, projects = false, times = false,
       allocation = false;
};

struct WorkloadHistory {
  std::vector<ObjectHistory> objects;  ///< kRoot is first
  std::vector<TokenHistory> tokens;
  Timeline timeline;
  Aspects judged;
};

/// Follows a list. Skipped operations are ignored; the content of files with a partial write is
/// unclear.
Result<WorkloadHistory> follow_operations(
    std::span<const workload::Operation> operations, const adapters::Promises& promises,
    std::span<const workload::FailedOperation> failed_operations = {},
    std::span<const std::string> subjects = {});

}  // namespace headcrash::oracle
