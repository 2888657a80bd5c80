#pragma once
// Where a file system keeps what on its disk, read from its superblock: so that a block without a
// magic number, a piece of an inode table or of a bitmap, can be named by its place.
//
// ext2, ext3, ext4: groups of blocks, each with two bitmaps and a part of the inode table (ext4.h
// of the kernel, and the "Disk Layout" of its documentation). XFS: the log's blocks (xfs_format.h).
// F2FS: the areas before the main one, and in that the nodes, by what stands at their end
// (f2fs_fs.h: struct f2fs_super_block, struct node_footer).

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

  /// `type`: of mount(2); empty: as the superblock says. What cannot be read or makes no sense is
  /// left out.
  static DiskMap read(std::string type, const Read& read);

  const std::string& type() const { return type_; }
  /// Of ext2, ext3 and ext4; else nothing.
  const std::optional<ExtLayout>& ext() const { return ext_; }
  /// What its place says of the 4 KiB or less that begin at `lba`, and a directory's block by what
  /// it holds.
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
    std::uint64_t first_inode = 0;  ///< 0: these are not inodes
  };
  std::vector<Range> ranges_;  ///< ascending
  struct MainArea {
    std::uint64_t first = 0, blocks = 0, nodes = 0;  ///< `nodes`: numbers are less
  };
  MainArea main_;  ///< of F2FS
};

class ExtHistory;

/// What is known of the disk that a write goes to; any of it may be missing.
struct KnownDisk {
  const DiskMap* map = nullptr;
  const ExtHistory* history = nullptr;  ///< that has taken the write ...
  std::size_t request = 0;              ///< ... as this one

  /// What is looked at at once: a block, or 4 KiB.
  std::size_t piece_bytes() const;
};

/// By stamps, magic numbers and the map, as describe_write() in words: what the first block of a
/// write that says anything is. REQUIRES: disk.map.
BlockKind kind_of_write(const KnownDisk& disk, std::uint64_t lba, std::span<const std::byte> data);

}  // namespace headcrash::explorer
