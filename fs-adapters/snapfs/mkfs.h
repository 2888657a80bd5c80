#pragma once
// Creates an empty file system: root directory, its record, the maps, and the superblock of
// generation 1, last.

#include <cstdint>

#include "fs-adapters/snapfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

struct MkfsOptions {
  std::uint32_t block_bytes = 4096;  ///< a power of 2 from 512 to 8192
  std::uint32_t bytes_per_inode = 8192;
  std::uint32_t inodes = 0;  ///< 0: by bytes_per_inode
  VersionCheck version_check = VersionCheck::every_sector;
  std::uint32_t log_bytes = 0;  ///< of the intent log, rounded up to blocks; 0: none
  std::uint32_t id = 0;         ///< another one each time
  tree::Timestamp time = {};
};

/// An Error says what would do.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::snapfs
