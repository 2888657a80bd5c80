#pragma once
// Which blocks a file has, by the summaries of the log alone: for recovery, which has to count
// them, and would have to read every index block to learn it from the inode.
//
// It can be known of a file that the checkpoint did not: all its blocks have come by, the newest
// copy of each is the one that counts, and what came by and is dead again (cut off) shows, since
// the inode says how many sectors there are.

#include <cstddef>
#include <map>
#include <unordered_map>

#include "fs-adapters/lfs/format.h"

namespace headcrash::lfs {

class SummarizedBlocks {
 public:
  struct Place {
    SectorAddress address = 0;
    std::uint32_t sectors = 0;
  };
  using Blocks = std::map<BlockId, Place>;

  /// A file's block of the region that comes next in the log. After kEntriesMax of them nothing is
  /// known any more.
  void add(const SummaryEntry& entry, SectorAddress address);
  /// The file's inode is in the region that was added last: it leads to what has come by, and to
  /// nothing later.
  void inode_follows(InodeNumber number);
  /// REQUIRES: that is the file's newest inode, and the checkpoint had none of that number. Null:
  /// the summaries do not say it. Until the next add().
  const Blocks* all_of(const Inode& inode) const;

  static constexpr std::size_t kEntriesMax = 1 << 20;

 private:
  struct File {
    std::uint32_t version = 0;
    Blocks blocks;  ///< up to the newest inode
    Blocks later;   ///< of which no inode is known yet
  };
  std::unordered_map<InodeNumber, File> files_;
  std::size_t entries_ = 0;  ///< of summaries
};

}  // namespace headcrash::lfs
