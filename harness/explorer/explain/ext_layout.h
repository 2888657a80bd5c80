#pragma once
// Where an ext2, ext3 or ext4 keeps what, as its superblock and its group descriptors say (ext4.h
// of the kernel, and the "Disk Layout" of its documentation).
//
//   | superblock | descriptors | ... block bitmap, inode bitmap, inode table of each group, anywhere ... | data |
//
// Everything read is checked before it is believed: the disk may be a crash state's, or hostile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

/// Whole sectors of a disk.
using ReadSectors = std::function<Result<void>(std::uint64_t lba, std::span<std::byte> into)>;

/// Bytes of the disk, from whole sectors; nothing: they cannot be read.
std::optional<std::vector<std::byte>> bytes_at(const ReadSectors& read, std::uint64_t offset,
                                               std::size_t size);

/// A stretch of a file: `blocks` blocks from `first` on, which begin with block `logical` of it.
struct ExtExtent {
  std::uint64_t first = 0, blocks = 0, logical = 0;
};

struct ExtLayout {
  std::uint64_t block_bytes = 4096, blocks = 0, first_block = 0, blocks_per_group = 1;
  std::uint64_t inode_bytes = 256, inodes_per_group = 1, table_blocks = 0;
  std::uint64_t descriptors_at = 0, descriptors_blocks = 0;
  struct Group {
    std::uint64_t block_bitmap = 0, inode_bitmap = 0, table = 0;
    /// What mkfs has left as it found it: bitmaps, and inodes from this one of the table on.
    bool block_bitmap_unwritten = false, inode_bitmap_unwritten = false;
    std::uint64_t inodes_written = 0;
  };
  std::vector<Group> groups;
  std::vector<ExtExtent> journal;  ///< by place in the journal; empty: there is none inside

  std::uint64_t sectors_per_block() const { return block_bytes / 512; }
  std::uint64_t inodes_per_block() const { return block_bytes / inode_bytes; }
};

/// Nothing: there is no such superblock, or it makes no sense.
std::optional<ExtLayout> read_ext_layout(const ReadSectors& read);

/// What an inode says of its blocks: stretches of data, and blocks that hold more of the map.
struct ExtBlockMap {
  std::vector<ExtExtent> data;
  struct Node {
    std::uint64_t block = 0, logical = 0;
    int level = 0;  ///< of indirect blocks; 0: of an extent tree
  };
  std::vector<Node> nodes;
};
ExtBlockMap block_map_of_inode(std::span<const std::byte> inode);
/// The same of a block of the map.
ExtBlockMap block_map_of_node(std::span<const std::byte> block, const ExtBlockMap::Node& node);

/// Records that follow each other to the end of the block: inode, length, length of the name, kind,
/// name.
bool is_ext_directory(std::span<const std::byte> block);

}  // namespace headcrash::explorer
