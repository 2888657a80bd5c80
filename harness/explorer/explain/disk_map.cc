// Reads superblocks, group descriptors and the journal's extents (disk_map.h). All data is
// validated, because the disk may hold a crash state or hostile data.
#include "harness/explorer/explain/disk_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/explorer/explain/block_kind.h"
#include "harness/explorer/explain/byte_order.h"
#include "harness/workload/stamp.h"
#include "plugin/model/core/device.h"

namespace headcrash::explorer {
namespace {

using report::BlockClass;
using Bytes = std::span<const std::byte>;

std::string type_by_magic(const DiskMap::Read& read) {
  const auto start = bytes_at(read, 0, 4096);
  if (!start) return {};
  if (big(*start, 0, 4) == 0x58465342) return "xfs";
  if (little(*start, 1080, 2) == 0xef53) return "ext4";
  if (little(*start, 1024, 4) == 0xf2f52010) return "f2fs";
  const auto super = bytes_at(read, 65536, 512);
  if (super && big(*super, 64, 8) == 0x5f42485266535f4d) return "btrfs";
  return {};
}

}  // namespace

DiskMap DiskMap::read(std::string type, const Read& read) {
  DiskMap map;
  map.type_ = type.empty() ? type_by_magic(read) : std::move(type);
  if (map.type_.starts_with("ext")) map.read_ext(read);
  if (map.type_ == "xfs") map.read_xfs(read);
  if (map.type_ == "f2fs") map.read_f2fs(read);
  std::ranges::sort(map.ranges_, {}, &Range::first);
  return map;
}

void DiskMap::add(std::uint64_t first_block, std::uint64_t blocks, BlockKind kind,
                  std::uint64_t first_inode) {
  if (first_block != 0 || blocks != 0)
    ranges_.push_back({first_block, blocks, std::move(kind), first_inode});
}

void DiskMap::read_ext(const Read& read) {
  ext_ = read_ext_layout(read);
  if (!ext_) return;
  block_sectors_ = ext_->sectors_per_block();
  inodes_per_block_ = ext_->inodes_per_block();
  add(ext_->first_block, 1, {BlockClass::superblock, "superblock"});
  add(ext_->descriptors_at, ext_->descriptors_blocks, {BlockClass::bitmap, "group descriptors"});
  for (std::size_t group = 0; group < ext_->groups.size(); ++group) {
    const ExtLayout::Group& each = ext_->groups[group];
    add(each.block_bitmap, 1, {BlockClass::bitmap, fmt::format("block bitmap of group {}", group)});
    add(each.inode_bitmap, 1, {BlockClass::bitmap, fmt::format("inode bitmap of group {}", group)});
    add(each.table, ext_->table_blocks,
        {BlockClass::inode, fmt::format("inode table of group {}", group)},
        group * ext_->inodes_per_group + 1);
  }
  for (const ExtExtent& each : ext_->journal)
    add(each.first, each.blocks, {BlockClass::journal, "journal: a copy of a block"});
}

void DiskMap::read_xfs(const Read& read) {
  const auto super = bytes_at(read, 0, 512);
  if (!super || big(*super, 0, 4) != 0x58465342) return;
  const std::uint64_t block_bytes = big(*super, 4, 4), log = big(*super, 48, 8),
                      group_blocks = big(*super, 84, 4), log_blocks = big(*super, 96, 4),
                      group_shift = big(*super, 124, 1);
  if (block_bytes < model::kSectorBytes || block_bytes > 65536 || group_shift > 31 ||
      group_blocks == 0)
    return;
  block_sectors_ = block_bytes / model::kSectorBytes;
  const std::uint64_t group = log >> group_shift, in_group = log & ((1ULL << group_shift) - 1);
  if (log != 0) add(group * group_blocks + in_group, log_blocks, {BlockClass::journal, "log"});
}

void DiskMap::read_f2fs(const Read& read) {
  constexpr std::uint64_t kNatEntries = 455;  // number of entries in each NAT block
  const auto start = bytes_at(read, 0, 4096);
  if (!start || little(*start, 1024, 4) != 0xf2f52010) return;
  const auto number = [&](std::size_t at) { return little(*start, 1024 + at, 4); };
  const std::uint64_t segment_shift = number(20);
  // Block sizes other than 4 KiB are not supported.
  if (number(16) != 12 || segment_shift > 16) return;
  const auto area = [&](std::size_t at, std::size_t count, BlockClass block, const char* what) {
    add(number(at), number(count) << segment_shift, {block, what});
  };
  area(76, 52, BlockClass::superblock, "checkpoint");
  area(80, 56, BlockClass::bitmap, "segment information (SIT)");
  area(84, 60, BlockClass::inode, "node addresses (NAT)");
  area(88, 64, BlockClass::bitmap, "segment summaries (SSA)");
  main_ = {.first = number(92),
           .blocks = number(68) << segment_shift,
           .nodes = ((number(60) / 2) << segment_shift) * kNatEntries};
}

/// Recognises an F2FS node. A node has no magic number, so its numbers and its pointer to the next
/// node must be consistent.
std::optional<BlockKind> DiskMap::f2fs_node(std::uint64_t number, Bytes block) const {
  constexpr std::size_t kFooter = 4096 - 24;
  constexpr std::uint64_t kFsyncMark = 2;
  if (block.size() != 4096 || number - main_.first >= main_.blocks) return std::nullopt;
  const std::uint64_t node = little(block, kFooter, 4), inode = little(block, kFooter + 4, 4),
                      marks = little(block, kFooter + 8, 4),
                      version = little(block, kFooter + 12, 8),
                      next = little(block, kFooter + 20, 4);
  const auto numbers_one = [&](std::uint64_t value) { return value != 0 && value < main_.nodes; };
  if (!numbers_one(node) || !numbers_one(inode) || version == 0) return std::nullopt;
  if (next != 0 && next - main_.first > main_.blocks) return std::nullopt;
  const char* fsync = (marks & kFsyncMark) != 0 ? ", with the fsync mark" : "";
  if (node == inode)
    return BlockKind{BlockClass::inode, fmt::format("node {}, an inode{}", node, fsync)};
  return BlockKind{BlockClass::metadata, fmt::format("node {} of inode {}{}", node, inode, fsync)};
}

std::optional<BlockKind> DiskMap::at(std::uint64_t lba, Bytes block) const {
  const std::uint64_t number = lba / block_sectors_;
  auto range = std::ranges::upper_bound(ranges_, number, {}, &Range::first);
  while (range != ranges_.begin()) {
    --range;
    if (number >= range->first + range->blocks) continue;
    BlockKind kind = range->kind;
    if (range->first_inode != 0 && inodes_per_block_ != 0) {
      const std::uint64_t inode = range->first_inode + (number - range->first) * inodes_per_block_;
      kind.what += fmt::format(", inodes {} to {}", inode, inode + inodes_per_block_ - 1);
    }
    return kind;
  }
  if (type_ == "f2fs") return f2fs_node(number, block);
  if (type_.starts_with("ext")) {
    const Bytes one =
        block.first(std::min<std::size_t>(block.size(), block_sectors_ * model::kSectorBytes));
    if (one.size() == block_sectors_ * model::kSectorBytes && is_ext_directory(one)) {
      const bool first = little(one, 6, 1) == 1 && little(one, 8, 1) == '.';
      return BlockKind{BlockClass::directory,
                       first ? fmt::format("directory, inode {}", little(one, 0, 4)) : "directory"};
    }
  }
  return std::nullopt;
}

std::size_t KnownDisk::piece_bytes() const {
  constexpr std::size_t kUsual = 4096;  // the default block size of mkfs, except on tiny disks
  return map != nullptr && map->ext() ? static_cast<std::size_t>(map->ext()->block_bytes) : kUsual;
}

BlockKind kind_of_write(const KnownDisk& disk, std::uint64_t lba, Bytes data) {
  BlockKind kind{BlockClass::other, describe_write(disk.map->type(), lba, data, disk)};
  const std::size_t step = disk.piece_bytes();
  for (std::size_t at = 0; at < data.size(); at += step) {
    const Bytes piece = data.subspan(at, std::min(step, data.size() - at));
    const auto known = known_block(disk.map->type(), lba + at / model::kSectorBytes, piece, disk);
    const auto content =
        workload::read_stamp(piece.first(std::min(workload::kStampBytes, piece.size())));
    // A journal may contain copies of file data, so a stamp in the journal does not identify a
    // block of file data.
    if (std::holds_alternative<workload::Stamp>(content) &&
        (!known || known->block != BlockClass::journal)) {
      kind.block = BlockClass::data;
      return kind;
    }
    if (!known) continue;
    kind.block = known->block;
    return kind;
  }
  return kind;
}

}  // namespace headcrash::explorer
