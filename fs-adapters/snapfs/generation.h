#pragma once
// A generation: what a set of operations has changed since the one before, all of which is
// committed with one write of a superblock (Soares, Krieger and Da Silva, III-B).

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
  std::uint32_t operations = 0;  ///< that belong to it and have not ended
  /// Blocks that no generation before it has. They are changed in place until it has been
  /// committed.
  std::unordered_set<BlockAddress> born;
  /// Blocks that the one before it has, and this one does not.
  std::unordered_set<BlockAddress> freed;
  /// Blocks that must be on the disk before its superblock: the paper's hash of dirty buffers.
  std::set<BlockAddress> outstanding;
  /// Inodes as the last of its operations has left them; mode 0: gone. They go into records when it
  /// ends, so that later generations may change inodes meanwhile.
  std::map<InodeNumber, Inode> inodes;
  std::set<std::uint32_t> record_leaves;  ///< of the record map, that `inodes` lie in
  std::set<InodeNumber> numbers_born, numbers_freed;

  /// What the one before it has changed, too, which is on the disk and not committed: as if both
  /// were one.
  void continue_after(const Generation& older);

  /// What it counts for in memory (tree::InodeStore::bytes_in_core).
  std::size_t bytes_in_core() const;
  bool empty() const {
    return born.empty() && freed.empty() && outstanding.empty() && inodes.empty();
  }
};

/// An operation belongs to the generation that was open when it changed something first, by when it
/// has the locks of all inodes that it will change; so that of two operations on one inode the
/// later never belongs to the older generation.
struct Operation : tree::Operation {
  Generation* generation = nullptr;  ///< null: it has changed nothing yet
  bool has_reserve = false;          ///< counts among those for whom blocks are kept
  std::uint32_t room =
      0;  ///< blocks that are kept for what it writes; nothing it asks for is refused then
};

}  // namespace headcrash::snapfs
