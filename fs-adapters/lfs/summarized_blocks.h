#pragma once
// Finds a file's blocks from the log's summaries alone. Recovery must count these blocks, and would
// otherwise have to read every index block.
//
// This works for files that the checkpoint does not contain. All blocks of such a file are in the
// log, and the newest copy of each block is valid unless a truncation has freed the block since.
// Truncations are detected: the blocks that were found then do not add up to the number of sectors
// in the inode.

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

  /// Adds a block of a file from the log's next region. Once kEntriesMax entries have been added,
  /// all_of() returns null.
  void add(const SummaryEntry& entry, SectorAddress address);
  /// Must be called after the blocks of a region have been added, if the region contains the inode
  /// of the file. The inode then refers to all blocks of the file that have been added so far, but
  /// not to blocks that are added later.
  void inode_follows(InodeNumber number);
  /// Returns all blocks of the file, or null if they cannot be determined from the summaries. Valid
  /// until the next add(). REQUIRES: `inode` is the newest copy, and the checkpoint has no inode
  /// with that number.
  const Blocks* all_of(const Inode& inode) const;

  static constexpr std::size_t kEntriesMax = 1 << 20;

 private:
  struct File {
    std::uint32_t version = 0;
    Blocks blocks;  ///< blocks logged before the inode's newest copy
    Blocks later;   ///< blocks logged after the inode's newest copy
  };
  std::unordered_map<InodeNumber, File> files_;
  std::size_t entries_ = 0;  ///< number of summary entries added
};

}  // namespace headcrash::lfs
