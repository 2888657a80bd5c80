#pragma once
// A generation: the changes that a set of operations has made since the previous generation. A
// single write of a superblock commits it (Soares, Krieger and Da Silva, III-B).

#include <cstdint>
#include <map>
#include <set>
#include <unordered_set>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/substrate/tree/core_inode.h"

namespace headcrash::snapfs {

struct Generation {
  explicit Generation(std::uint64_t its_number) : number(its_number) {}

  std::uint64_t number;
  /// Number of operations in progress that belong to this generation.
  std::uint32_t operations = 0;
  /// Blocks that no earlier generation contains. They are changed in place until the commit.
  std::unordered_set<BlockAddress> born;
  /// Blocks of the previous generation that this generation no longer uses.
  std::unordered_set<BlockAddress> freed;
  /// Blocks that must be on the disk before this generation's superblock is written. The paper
  /// calls this set the hash of dirty buffers.
  std::set<BlockAddress> outstanding;
  /// For each inode that this generation has changed, its state after the generation's last
  /// operation; mode 0 if the inode was removed. These states are copied to inode records only when
  /// the generation ends. A later generation may then already have changed the inodes in core.
  std::map<InodeNumber, Inode> inodes;
  /// The leaves of the record map that contain the records of `inodes`.
  std::set<std::uint32_t> record_leaves;
  std::set<InodeNumber> numbers_born, numbers_freed;

  /// Adds the changes of the previous generation. These changes are in the log, but have not been
  /// committed. Both generations are then committed as one.
  void continue_after(const Generation& older);

  /// Returns the memory charged for this generation (tree::InodeStore::bytes_in_core).
  std::size_t bytes_in_core() const;
  bool empty() const {
    return born.empty() && freed.empty() && outstanding.empty() && inodes.empty();
  }
};

/// An operation belongs to the generation that is open when the operation makes its first change.
/// When it makes that change, it already holds the locks of all inodes that it will change.
/// Therefore, if two operations change the same inode, the later operation never belongs to the
/// older generation.
struct Operation : tree::Operation {
  Generation* generation = nullptr;  ///< null before the first change
  bool has_reserve = false;          ///< blocks have been reserved for this operation
  /// Number of blocks reserved for this operation's writes, so that the writes cannot fail with
  /// ENOSPC.
  std::uint32_t room = 0;
  std::uint32_t used_room = 0;  ///< number of reserved blocks allocated so far; at most room
  std::uint32_t allocated = 0;  ///< number of all blocks that the operation has allocated
};

}  // namespace headcrash::snapfs
