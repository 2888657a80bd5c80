#pragma once
// Finds a file's blocks from the log's summaries alone. Recovery must count these blocks, and would
// otherwise have to read every index block.
//
// This works for files that the checkpoint does not contain. All blocks of such a file are in the
// log, and the newest copy of each block is valid unless a truncation has freed the block since.
// Truncations are detected, because the number of sectors in the inode then differs from that of
// the blocks found.

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

  /// Adds a block of a file. Blocks must be added in log order. Once kEntriesMax blocks have been
  /// added, all_of() returns null.
  void add(const SummaryEntry& entry, SectorAddress address);
  /// Reports that a region contains the file's inode. Must be called after all blocks of the region
  /// have been added: the inode refers to the file's blocks added so far, but not to those added
  /// later.
  void inode_follows(InodeNumber number);
  /// Returns all blocks of the file, or null if the summaries do not determine them. Valid until
  /// the next add(). REQUIRES: `inode` is the newest copy, and the checkpoint has no inode with
  /// that number.
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
