#pragma once
// Creates an empty file system: the superblock, the root directory in the first log region, and the
// first checkpoint.

#include <cstdint>

#include "fs-adapters/lfs/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

struct MkfsOptions {
  std::uint32_t block_bytes = 4096;          ///< 512 to 8192; small blocks suit small test disks
  std::uint32_t segment_bytes = 512 * 1024;  ///< Sprite's default
  /// Alignment of the first segment, for example to the stripes of an array.
  std::uint32_t align_bytes = 64 * 1024;
  std::uint32_t bytes_per_inode = 4096;
  /// Percentage of segments that are reserved for the cleaner; at least 7 segments are reserved.
  std::uint32_t reserve_percent = 8;
  bool checksums = true;  ///< false for the format `sprite92`
  std::uint32_t id = 0;   ///< unique file system id
  tree::Timestamp time = {};
};

/// Creates the file system, and writes the superblock last. If an option is invalid, the error
/// names valid values.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::lfs
