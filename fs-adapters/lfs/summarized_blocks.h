#pragma once
// Finds a file's blocks from the log's summaries alone. Recovery must count them, and would
// otherwise read every index block.
//
// This works for files that the checkpoint did not contain. All their blocks are in the log, and
// the newest copy of each is valid. Blocks that are dead again (truncated) are detected, because
// the inode records the number of sectors.

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

  /// Adds a file's block of the next region of the log. After kEntriesMax entries, nothing is
  /// known.
  void add(const SummaryEntry& entry, SectorAddress address);
  /// Notes that the file's inode is in the last added region, so it refers to the blocks added so
  /// far, and to no later ones.
  void inode_follows(InodeNumber number);
  /// REQUIRES: `inode` is the file's newest one, and the checkpoint had none of that number.
  /// Returns null if the summaries are incomplete. Valid until the next add().
  const Blocks* all_of(const Inode& inode) const;

  static constexpr std::size_t kEntriesMax = 1 << 20;

 private:
  struct File {
    std::uint32_t version = 0;
    Blocks blocks;  ///< up to the newest inode
    Blocks later;   ///< after the newest inode
  };
  std::unordered_map<InodeNumber, File> files_;
  std::size_t entries_ = 0;  ///< of summaries
};

}  // namespace headcrash::lfs
