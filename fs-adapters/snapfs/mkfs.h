#pragma once
// Creates an empty file system: the root directory, its record, the maps, and finally the
// superblock of generation 1.

#include <cstdint>

#include "fs-adapters/snapfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

struct MkfsOptions {
  std::uint32_t block_bytes = 4096;  ///< a power of 2 from 512 to 8192
  std::uint32_t bytes_per_inode = 8192;
  std::uint32_t inodes = 0;  ///< number of inodes; 0 to derive it from bytes_per_inode
  VersionCheck version_check = VersionCheck::every_sector;
  std::uint32_t log_bytes = 0;  ///< size of the intent log, rounded up to blocks; 0 for no log
  std::uint32_t id = 0;         ///< unique file system id
  tree::Timestamp time = {};
};

/// Creates the file system. If an option is invalid, the error names the valid values.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::snapfs
