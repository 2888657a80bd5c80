#pragma once
// Creates an empty file system with a root directory and lost+found, as BSD's newfs does.
// lost+found has a block of free space, so that fsck can add names without having to allocate
// blocks.

#include <array>
#include <cstdint>
#include <optional>

#include "fs-adapters/ufs/format/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

struct MkfsOptions {
  std::uint32_t block_bytes = 8192;      ///< 4096 or 8192; 512 to 2048 only for small test disks
  std::uint32_t fragment_bytes = 1024;   ///< 512 to block_bytes, at least an eighth of block_bytes
  std::uint32_t bytes_per_inode = 8192;  ///< inode density
  /// Rounded up to whole blocks of inodes. 0 derives the number from `bytes_per_inode`.
  std::uint32_t inodes_per_group = 0;
  /// 0 selects the smallest number of groups, all of the same length. The header of each group must
  /// fit in one block.
  std::uint64_t group_bytes = 0;
  std::uint32_t reserve_percent = 10;
  Optimization optimization = Optimization::time;
  std::uint32_t contiguous_max = 8;
  /// 0 selects the number of pointers in an indirect block.
  std::uint32_t blocks_per_file_in_group_max = 0;
  std::uint32_t time = 0;  ///< seconds since the epoch
  std::array<std::uint32_t, 2> id = {};
  bool lost_found = true;
  Features features = {};
  /// 0 selects a size that suits the device. If nullopt, no journal is created.
  std::optional<std::uint64_t> journal_bytes = {};
  /// Size of a journal on the store's second device (os/device_stores.h); 0 selects 16 MiB. If set,
  /// mkfs also sets the feature external_journal.
  std::optional<std::uint64_t> external_journal_bytes = {};
};

/// Writes everything except free space. The superblock is written last, so that an interrupted run
/// leaves no file system. If an option is invalid, the Error names the option and its valid values.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::ufs
