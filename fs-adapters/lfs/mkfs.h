#pragma once
// Creates an empty file system: superblock, the root directory in the first region of the log, and
// the first checkpoint.

#include <cstdint>

#include "fs-adapters/lfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

struct MkfsOptions {
  std::uint32_t block_bytes = 4096;          ///< 512 to 8192; small ones for small disks of the lab
  std::uint32_t segment_bytes = 512 * 1024;  ///< Sprite's default
  std::uint32_t align_bytes =
      64 * 1024;  ///< the first segment begins at a multiple of it: an array's stripe
  std::uint32_t bytes_per_inode = 4096;
  std::uint32_t reserve_percent = 8;  ///< of the segments, for the cleaner; at least 7 segments
  bool checksums = true;              ///< off: sprite92
  std::uint32_t id = 0;               ///< another one each time
  tree::Timestamp time = {};
};

/// The superblock is written last. An Error says what would do.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::lfs
