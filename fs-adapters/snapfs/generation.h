#pragma once
// A generation: the changes made by a set of operations since the previous generation, committed
// with a single write of a superblock (Soares, Krieger and Da Silva, III-B).

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
  std::uint32_t operations = 0;  ///< running operations that belong to this generation
  /// Blocks that no earlier generation contains. They are changed in place until the commit.
  std::unordered_set<BlockAddress> born;
  /// Blocks of the previous generation that are not part of this one.
  std::unordered_set<BlockAddress> freed;
  /// Blocks that must be on the disk before this generation's superblock: the paper's hash of dirty
  /// buffers.
  std::set<BlockAddress> outstanding;
  /// Inodes as left by this generation's last operation; mode 0 if removed. They are copied to
  /// inode records when the generation ends, so later generations may already change the in-core
  /// inodes.
  std::map<InodeNumber, Inode> inodes;
  std::set<std::uint32_t> record_leaves;  ///< leaves of the record map that contain `inodes`
  std::set<InodeNumber> numbers_born, numbers_freed;

  /// Adds the changes of the previous generation, which are on the disk but not committed, so that
  /// both are committed as one.
  void continue_after(const Generation& older);

  /// Returns the memory charged for this generation (tree::InodeStore::bytes_in_core).
  std::size_t bytes_in_core() const;
  bool empty() const {
    return born.empty() && freed.empty() && outstanding.empty() && inodes.empty();
  }
};

/// An operation belongs to the generation that was open at its first change. By then it holds the
/// locks of all inodes that it will change, so the later of two operations on an inode never
/// belongs to the older generation.
struct Operation : tree::Operation {
  Generation* generation = nullptr;  ///< null before the first change
  bool has_reserve = false;          ///< blocks have been reserved for this operation
  /// Blocks reserved for this operation's writes, so that they cannot fail with ENOSPC.
  std::uint32_t room = 0;
};

}  // namespace headcrash::snapfs
