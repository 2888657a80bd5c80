#pragma once
// A file system's on-disk layout, read from its superblock. Blocks without a magic number, such as
// inode tables and bitmaps, are identified by their position.
//
// ext2, ext3, ext4: groups of blocks, each with two bitmaps and a part of the inode table (the
// kernel's ext4.h, and "Disk Layout" in its documentation). XFS: the blocks of the log
// (xfs_format.h). F2FS: the areas before the main area, and the nodes in the main area, which are
// identified by their footers (f2fs_fs.h: struct f2fs_super_block, struct node_footer).

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/explorer/explain/ext_layout.h"
#include "plugin/base/result.h"
#include "results/report/crash/crash_page.h"

namespace headcrash::explorer {

struct BlockKind {
  report::BlockClass block = report::BlockClass::metadata;
  std::string what;  ///< "inode table of group 3, inodes 6145 to 6160"
};

class DiskMap {
 public:
  using Read = ReadSectors;

  /// Reads the layout. `type` is the file system type as in mount(2); if empty, the type is
  /// detected from the superblock. Parts of the layout that cannot be read or are inconsistent are
  /// omitted.
  static DiskMap read(std::string type, const Read& read);

  const std::string& type() const { return type_; }
  /// Returns the layout of ext2, ext3 or ext4; nullopt for other file systems.
  const std::optional<ExtLayout>& ext() const { return ext_; }
  /// Identifies a piece of at most 4 KiB that begins at `lba`. Directory blocks are identified by
  /// their contents, and most other blocks by their position.
  std::optional<BlockKind> at(std::uint64_t lba, std::span<const std::byte> block) const;

 private:
  void read_ext(const Read& read);
  void read_xfs(const Read& read);
  void read_f2fs(const Read& read);
  std::optional<BlockKind> f2fs_node(std::uint64_t number, std::span<const std::byte> block) const;
  void add(std::uint64_t first_block, std::uint64_t blocks, BlockKind kind,
           std::uint64_t first_inode = 0);

  std::string type_;
  std::optional<ExtLayout> ext_;
  std::uint64_t block_sectors_ = 8;
  std::uint64_t inodes_per_block_ = 0;
  struct Range {
    std::uint64_t first = 0, blocks = 0;
    BlockKind kind;
    /// Number of the first inode in the range; 0 if the range has no inodes.
    std::uint64_t first_inode = 0;
  };
  std::vector<Range> ranges_;  ///< ascending
  struct MainArea {
    std::uint64_t first = 0, blocks = 0, nodes = 0;  ///< node numbers are below `nodes`
  };
  MainArea main_;  ///< F2FS only
};

class ExtHistory;

/// Known facts about the disk to which a write was sent. A pointer is null if the fact is unknown.
struct KnownDisk {
  const DiskMap* map = nullptr;
  const ExtHistory* history = nullptr;  ///< the history to which the write was added
  std::size_t request = 0;              ///< number of the write in `history`

  /// Returns the size of the pieces into which a write is divided to identify its contents: the
  /// block size of an ext file system, or else 4 KiB.
  std::size_t piece_bytes() const;
};

/// Identifies the first recognisable block of a write. Like describe_write(), uses stamps, magic
/// numbers and the map. REQUIRES: disk.map.
BlockKind kind_of_write(const KnownDisk& disk, std::uint64_t lba, std::span<const std::byte> data);

}  // namespace headcrash::explorer
