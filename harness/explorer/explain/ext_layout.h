#pragma once
// The layout of an ext2, ext3 or ext4 file system, read from its superblock and group descriptors
// (ext4.h of the kernel, and "Disk Layout" in its documentation).
//
//   | superblock | descriptors | bitmaps and inode table of each group, anywhere | data |
//
// All data is validated, because the disk may hold a crash state or hostile data.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plugin/base/result.h"

namespace headcrash::explorer {

/// Reads whole sectors from a disk.
using ReadSectors = std::function<Result<void>(std::uint64_t lba, std::span<std::byte> into)>;

/// Reads a byte range of the disk. Returns nullopt if the range cannot be read.
std::optional<std::vector<std::byte>> bytes_at(const ReadSectors& read, std::uint64_t offset,
                                               std::size_t size);

/// A contiguous part of a file: `blocks` blocks, from disk block `first` and file block `logical`
/// on.
struct ExtExtent {
  std::uint64_t first = 0, blocks = 0, logical = 0;
};

struct ExtLayout {
  std::uint64_t block_bytes = 4096, blocks = 0, first_block = 0, blocks_per_group = 1;
  std::uint64_t inode_bytes = 256, inodes_per_group = 1, table_blocks = 0;
  std::uint64_t descriptors_at = 0, descriptors_blocks = 0;
  struct Group {
    std::uint64_t block_bitmap = 0, inode_bitmap = 0, table = 0;
    /// Parts of the group that mkfs left uninitialised: the bitmaps whose flags are true, and the
    /// inodes with an index of at least `inodes_written`.
    bool block_bitmap_unwritten = false, inode_bitmap_unwritten = false;
    std::uint64_t inodes_written = 0;
  };
  std::vector<Group> groups;
  /// The extents of the journal, in logical order; empty if the journal is on another device or
  /// absent.
  std::vector<ExtExtent> journal;

  std::uint64_t sectors_per_block() const { return block_bytes / 512; }
  std::uint64_t inodes_per_block() const { return block_bytes / inode_bytes; }
};

/// Returns nullopt if the superblock is missing or inconsistent.
std::optional<ExtLayout> read_ext_layout(const ReadSectors& read);

/// The result of parsing a part of an inode's block map: extents of data, and the blocks that
/// contain further parts of the map.
struct ExtBlockMap {
  std::vector<ExtExtent> data;
  struct Node {
    std::uint64_t block = 0, logical = 0;
    int level = 0;  ///< level of indirection; 0 for a node of an extent tree
  };
  std::vector<Node> nodes;
};
ExtBlockMap block_map_of_inode(std::span<const std::byte> inode);
ExtBlockMap block_map_of_node(std::span<const std::byte> block, const ExtBlockMap::Node& node);

/// Returns true if the block consists of valid directory records. A record has the fields inode,
/// record length, name length, type and name.
bool is_ext_directory(std::span<const std::byte> block);

}  // namespace headcrash::explorer
