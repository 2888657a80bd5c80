// Superblocks, group descriptors, the journal's extents (disk_map.h). Everything read is checked before it is believed: the
// disk may be a crash state's, or hostile.
#include "harness/explorer/disk_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/explorer/block_kind.h"
#include "harness/explorer/byte_order.h"
#include "harness/workload/stamp.h"
#include "plugin/model/device.h"

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
  std::ranges::sort(map.ranges_, {}, &Range::first);
  return map;
}

void DiskMap::add(std::uint64_t first_block, std::uint64_t blocks, BlockKind kind,
                  std::uint64_t first_inode) {
  if (first_block != 0 || blocks != 0) ranges_.push_back({first_block, blocks, std::move(kind), first_inode});
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
    add(each.table, ext_->table_blocks, {BlockClass::inode, fmt::format("inode table of group {}", group)},
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
  if (block_bytes < model::kSectorBytes || block_bytes > 65536 || group_shift > 31 || group_blocks == 0)
    return;
  block_sectors_ = block_bytes / model::kSectorBytes;
  const std::uint64_t group = log >> group_shift, in_group = log & ((1ULL << group_shift) - 1);
  if (log != 0) add(group * group_blocks + in_group, log_blocks, {BlockClass::journal, "log"});
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
  if (type_.starts_with("ext")) {
    const Bytes one = block.first(std::min<std::size_t>(block.size(), block_sectors_ * model::kSectorBytes));
    if (one.size() == block_sectors_ * model::kSectorBytes && is_ext_directory(one)) {
      const bool first = little(one, 6, 1) == 1 && little(one, 8, 1) == '.';
      return BlockKind{BlockClass::directory,
                       first ? fmt::format("directory, inode {}", little(one, 0, 4)) : "directory"};
    }
  }
  return std::nullopt;
}

std::size_t KnownDisk::piece_bytes() const {
  constexpr std::size_t kUsual = 4096;  // what mkfs chooses everywhere but on tiny disks
  return map != nullptr && map->ext() ? static_cast<std::size_t>(map->ext()->block_bytes) : kUsual;
}

BlockKind kind_of_write(const KnownDisk& disk, std::uint64_t lba, Bytes data) {
  BlockKind kind{BlockClass::other, describe_write(disk.map->type(), lba, data, disk)};
  const std::size_t step = disk.piece_bytes();
  for (std::size_t at = 0; at < data.size(); at += step) {
    const Bytes piece = data.subspan(at, std::min(step, data.size() - at));
    const auto known = known_block(disk.map->type(), lba + at / model::kSectorBytes, piece, disk);
    const auto content = workload::read_stamp(piece.first(std::min(workload::kStampBytes, piece.size())));
    // A journal may hold blocks of files, too.
    if (std::holds_alternative<workload::Stamp>(content) && (!known || known->block != BlockClass::journal)) {
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
