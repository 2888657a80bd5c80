#pragma once
// Creates an empty file system, as BSD's newfs does: the root directory and in it lost+found, with
// a block of free room in which fsck can put names when nothing can be allocated any more.

#include <array>
#include <cstdint>
#include <optional>

#include "fs-adapters/ufs/format/format.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

struct MkfsOptions {
  std::uint32_t block_bytes = 8192;      ///< 4096 or 8192; 512 to 2048 for small disks of the lab
  std::uint32_t fragment_bytes = 1024;   ///< 512 to block_bytes, an eighth of it at least
  std::uint32_t bytes_per_inode = 8192;  ///< density
  std::uint32_t inodes_per_group = 0;    ///< 0: as the density says; rounded up to whole blocks
  std::uint64_t group_bytes =
      0;  ///< 0: as few groups as headers of one block allow, all equally long
  std::uint32_t reserve_percent = 10;
  Optimization optimization = Optimization::time;
  std::uint32_t contiguous_max = 8;
  std::uint32_t blocks_per_file_in_group_max = 0;  ///< 0: as many as an indirect block has pointers
  std::uint32_t time = 0;                          ///< seconds since the epoch
  std::array<std::uint32_t, 2> id = {};
  bool lost_found = true;
  Features features = {};
  std::optional<std::uint64_t> journal_bytes =
      {};  ///< 0: as large as fits the device; nothing: no journal
  /// A journal on the store's second device (os/device_stores.h), with 0 of 16 MiB. Sets the
  /// feature.
  std::optional<std::uint64_t> external_journal_bytes = {};
};

/// Writes everything but free space; the superblock last, so that an interrupted run leaves none.
/// An Error names the option and what would do.
Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options = {});

}  // namespace headcrash::ufs
