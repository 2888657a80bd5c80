// Parses the superblock, the group descriptors and the block maps of inodes (ext_layout.h).
#include "harness/explorer/explain/ext_layout.h"

#include <algorithm>

#include "harness/explorer/explain/byte_order.h"
#include "plugin/model/core/device.h"

namespace headcrash::explorer {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kGroupsMost = 1 << 16;
constexpr std::uint64_t kSuperblockBytes = 1024;
constexpr std::uint64_t kJournalInode = 8;
constexpr std::uint64_t kExtentMagic = 0xf30a;
constexpr std::uint64_t kExtentsFlag = 0x80000, kInlineDataFlag = 0x10000000;
// In the length field, a value above this one means that the extent is allocated but unwritten.
constexpr std::uint64_t kLongestExtent = 32768;
constexpr std::size_t kMapAt = 40, kMapBytes = 60, kDirectBlocks = 12;
constexpr std::uint64_t kInodesUnwritten = 1, kBlocksUnwritten = 2;  // flags in a group descriptor
constexpr std::uint64_t kDescriptorsChecked = 0x10 | 0x400;          // GDT_CSUM, METADATA_CSUM
// Maximum number of blocks that are read for one inode's block map.
constexpr std::size_t kNodesMost = 1 << 12;

ExtBlockMap extents_of(Bytes node) {
  ExtBlockMap map;
  if (node.size() < 12 || little(node, 0, 2) != kExtentMagic) return map;
  const std::uint64_t depth = little(node, 6, 2);
  const std::size_t entries = std::min<std::size_t>(little(node, 2, 2), (node.size() - 12) / 12);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = 12 + 12 * i;
    const std::uint64_t logical = little(node, at, 4);
    if (depth > 0) {
      map.nodes.push_back({little(node, at + 4, 4) | little(node, at + 8, 2) << 32, logical, 0});
      continue;
    }
    const std::uint64_t length = little(node, at + 4, 2);
    map.data.push_back({little(node, at + 8, 4) | little(node, at + 6, 2) << 32,
                        length > kLongestExtent ? length - kLongestExtent : length, logical});
  }
  return map;
}

void add_block(ExtBlockMap& map, std::uint64_t block, std::uint64_t logical) {
  if (block == 0) return;
  if (!map.data.empty() && map.data.back().first + map.data.back().blocks == block &&
      map.data.back().logical + map.data.back().blocks == logical) {
    ++map.data.back().blocks;
  } else {
    map.data.push_back({block, 1, logical});
  }
}

/// Returns the number of file blocks that a block at this level of indirection maps.
std::uint64_t span_of(std::uint64_t pointers, int level) {
  std::uint64_t span = 1;
  for (int i = 0; i < level; ++i) span *= pointers;
  return span;
}

std::vector<ExtExtent> journal_of(const ExtLayout& layout, const ReadSectors& read) {
  const auto inode = bytes_at(
      read,
      layout.groups.front().table * layout.block_bytes + (kJournalInode - 1) * layout.inode_bytes,
      128);
  if (!inode) return {};
  ExtBlockMap map = block_map_of_inode(*inode);
  std::vector<ExtExtent> data = std::move(map.data);
  for (std::size_t i = 0; i < map.nodes.size() && i < kNodesMost; ++i) {
    const ExtBlockMap::Node node = map.nodes[i];
    const auto block = node.block < layout.blocks
                           ? bytes_at(read, node.block * layout.block_bytes, layout.block_bytes)
                           : std::nullopt;
    if (!block) continue;
    const ExtBlockMap more = block_map_of_node(*block, node);
    data.insert(data.end(), more.data.begin(), more.data.end());
    map.nodes.insert(map.nodes.end(), more.nodes.begin(), more.nodes.end());
  }
  std::erase_if(data, [&](const ExtExtent& each) {
    return each.first == 0 || each.first >= layout.blocks ||
           each.blocks > layout.blocks - each.first;
  });
  std::ranges::sort(data, {}, &ExtExtent::logical);
  return data;
}

}  // namespace

std::optional<std::vector<std::byte>> bytes_at(const ReadSectors& read, std::uint64_t offset,
                                               std::size_t size) {
  const std::uint64_t lba = offset / model::kSectorBytes, skip = offset % model::kSectorBytes;
  const std::uint64_t sectors = (skip + size + model::kSectorBytes - 1) / model::kSectorBytes;
  std::vector<std::byte> buffer(sectors * model::kSectorBytes);
  if (!read(lba, buffer)) return std::nullopt;
  return std::vector<std::byte>(buffer.begin() + static_cast<std::ptrdiff_t>(skip),
                                buffer.begin() + static_cast<std::ptrdiff_t>(skip + size));
}

std::optional<ExtLayout> read_ext_layout(const ReadSectors& read) {
  const auto super = bytes_at(read, kSuperblockBytes, 1024);
  if (!super || little(*super, 56, 2) != 0xef53) return std::nullopt;
  const std::uint64_t shift = little(*super, 24, 4);
  if (shift > 6) return std::nullopt;
  ExtLayout layout{.block_bytes = 1024ULL << shift,
                   .blocks = little(*super, 4, 4),
                   .first_block = little(*super, 20, 4),
                   .blocks_per_group = little(*super, 32, 4),
                   .inode_bytes = little(*super, 76, 4) == 0 ? 128 : little(*super, 88, 2),
                   .inodes_per_group = little(*super, 40, 4)};
  const bool wide = (little(*super, 96, 4) & 0x80U) != 0;
  if (wide) layout.blocks |= little(*super, 336, 4) << 32;
  const std::uint64_t descriptor = wide ? little(*super, 254, 2) : 32;
  if (layout.blocks_per_group == 0 || layout.inodes_per_group == 0 || layout.inode_bytes < 128 ||
      layout.inode_bytes > layout.block_bytes || descriptor < 32 || descriptor > 1024 ||
      layout.blocks <= layout.first_block)
    return std::nullopt;
  const std::uint64_t groups =
      (layout.blocks - layout.first_block + layout.blocks_per_group - 1) / layout.blocks_per_group;
  if (groups > kGroupsMost) return std::nullopt;
  layout.table_blocks =
      (layout.inodes_per_group * layout.inode_bytes + layout.block_bytes - 1) / layout.block_bytes;
  layout.descriptors_at = layout.first_block + 1;
  layout.descriptors_blocks = (groups * descriptor + layout.block_bytes - 1) / layout.block_bytes;
  // Only group descriptors with checksums state which parts are uninitialised.
  const bool lazy = (little(*super, 100, 4) & kDescriptorsChecked) != 0;
  const auto table =
      bytes_at(read, layout.descriptors_at * layout.block_bytes, groups * descriptor);
  if (!table) return layout;
  for (std::uint64_t group = 0; group < groups; ++group) {
    const auto pointer = [&](std::size_t low, std::size_t high) {
      const std::uint64_t place = little(*table, group * descriptor + low, 4);
      return descriptor >= 64 ? place | little(*table, group * descriptor + high, 4) << 32 : place;
    };
    ExtLayout::Group each{.block_bitmap = pointer(0, 0x20),
                          .inode_bitmap = pointer(4, 0x24),
                          .table = pointer(8, 0x28),
                          .inodes_written = layout.inodes_per_group};
    if (lazy) {
      const std::uint64_t flags = little(*table, group * descriptor + 0x12, 2);
      std::uint64_t unused = little(*table, group * descriptor + 0x1c, 2);
      if (descriptor >= 64) unused |= little(*table, group * descriptor + 0x32, 2) << 16;
      each.inode_bitmap_unwritten = (flags & kInodesUnwritten) != 0;
      each.block_bitmap_unwritten = (flags & kBlocksUnwritten) != 0;
      each.inodes_written -= std::min(unused, layout.inodes_per_group);
    }
    layout.groups.push_back(each);
  }
  layout.journal = journal_of(layout, read);
  return layout;
}

ExtBlockMap block_map_of_inode(Bytes inode) {
  ExtBlockMap map;
  const std::uint64_t mode = little(inode, 0, 2), flags = little(inode, 32, 4);
  const std::uint64_t kind = mode >> 12;
  const bool has_blocks =
      kind == 8 || kind == 4 || kind == 10;  // files, directories, symbolic links
  if (!has_blocks || (flags & kInlineDataFlag) != 0) return map;
  const Bytes blocks = inode.subspan(kMapAt, kMapBytes);
  if ((flags & kExtentsFlag) != 0) return extents_of(blocks);
  // The inode itself stores the target of a short symbolic link.
  if (kind == 10 && little(inode, 4, 4) < kMapBytes) return map;
  for (std::size_t i = 0; i < kDirectBlocks; ++i) add_block(map, little(blocks, 4 * i, 4), i);
  // The position of an indirect block within the file depends on the block size, so
  // block_map_of_node() computes it.
  for (int level = 1; level <= 3; ++level) {
    const std::uint64_t block =
        little(blocks, 4 * (kDirectBlocks - 1 + static_cast<std::size_t>(level)), 4);
    if (block != 0) map.nodes.push_back({block, 0, level});
  }
  return map;
}

ExtBlockMap block_map_of_node(Bytes block, const ExtBlockMap::Node& node) {
  if (node.level == 0) return extents_of(block);
  ExtBlockMap map;
  const std::uint64_t pointers = block.size() / 4;
  // If the inode itself lists this indirect block, `node` contains no position. Compute the
  // position from the level.
  std::uint64_t begin = node.logical;
  if (begin == 0) {
    begin = kDirectBlocks;
    for (int level = 1; level < node.level; ++level) begin += span_of(pointers, level);
  }
  for (std::size_t i = 0; i < pointers; ++i) {
    const std::uint64_t at = little(block, 4 * i, 4);
    const std::uint64_t logical = begin + i * span_of(pointers, node.level - 1);
    if (at == 0) continue;
    if (node.level == 1) {
      add_block(map, at, logical);
    } else {
      map.nodes.push_back({at, logical, node.level - 1});
    }
  }
  return map;
}

bool is_ext_directory(Bytes block) {
  std::size_t at = 0, records = 0;
  while (at + 8 <= block.size()) {
    const std::uint64_t length = little(block, at + 4, 2), name = little(block, at + 6, 1),
                        kind = little(block, at + 7, 1);
    const bool tail = little(block, at, 4) == 0 && length == 12 && name == 0 && kind == 0xde;
    if (length < 8 || length % 4 != 0 || at + length > block.size() || name + 8 > length)
      return false;
    if (!tail && (kind > 7 || (name == 0 && little(block, at, 4) != 0))) return false;
    at += length;
    ++records;
  }
  return at == block.size() && records > 0;
}

}  // namespace headcrash::explorer
