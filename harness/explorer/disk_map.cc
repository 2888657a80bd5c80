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

constexpr std::size_t kLookedAtBytes = 4096;  // at once, as describe_write() does
constexpr std::uint64_t kGroupsMost = 1 << 16;
constexpr std::uint64_t kExtSuperblockBytes = 1024;
constexpr std::size_t kExtentsInInode = 4;
constexpr std::uint64_t kJournalInode = 8;

/// Bytes of the disk, from whole sectors; nothing: they cannot be read.
std::optional<std::vector<std::byte>> bytes_at(const DiskMap::Read& read, std::uint64_t offset,
                                               std::size_t size) {
  const std::uint64_t lba = offset / model::kSectorBytes, skip = offset % model::kSectorBytes;
  const std::uint64_t sectors = (skip + size + model::kSectorBytes - 1) / model::kSectorBytes;
  std::vector<std::byte> buffer(sectors * model::kSectorBytes);
  if (!read(lba, buffer)) return std::nullopt;
  return std::vector<std::byte>(buffer.begin() + static_cast<std::ptrdiff_t>(skip),
                                buffer.begin() + static_cast<std::ptrdiff_t>(skip + size));
}

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

/// Records that follow each other to the end of the block: inode, length, length of the name, kind, name.
bool is_ext_directory(Bytes block) {
  std::size_t at = 0, records = 0;
  while (at + 8 <= block.size()) {
    const std::uint64_t length = little(block, at + 4, 2), name = little(block, at + 6, 1),
                        kind = little(block, at + 7, 1);
    const bool tail = little(block, at, 4) == 0 && length == 12 && name == 0 && kind == 0xde;
    if (length < 8 || length % 4 != 0 || at + length > block.size() || name + 8 > length) return false;
    if (!tail && (kind > 7 || (name == 0 && little(block, at, 4) != 0))) return false;
    at += length;
    ++records;
  }
  return at == block.size() && records > 0;
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
  const auto super = bytes_at(read, kExtSuperblockBytes, 1024);
  if (!super || little(*super, 56, 2) != 0xef53) return;
  const std::uint64_t shift = little(*super, 24, 4);
  if (shift > 6) return;
  const std::uint64_t block_bytes = 1024ULL << shift;
  const std::uint64_t blocks = little(*super, 4, 4), first = little(*super, 20, 4),
                      per_group = little(*super, 32, 4), inodes_per_group = little(*super, 40, 4);
  const bool old_revision = little(*super, 76, 4) == 0;
  const std::uint64_t inode_bytes = old_revision ? 128 : little(*super, 88, 2);
  const bool wide = (little(*super, 96, 4) & 0x80U) != 0;
  const std::uint64_t descriptor = wide ? little(*super, 254, 2) : 32;
  if (per_group == 0 || inodes_per_group == 0 || inode_bytes < 128 || inode_bytes > block_bytes ||
      descriptor < 32 || descriptor > 1024 || blocks <= first)
    return;
  const std::uint64_t groups = (blocks - first + per_group - 1) / per_group;
  if (groups > kGroupsMost) return;
  block_sectors_ = block_bytes / model::kSectorBytes;
  inodes_per_block_ = block_bytes / inode_bytes;
  const std::uint64_t table_blocks = (inodes_per_group * inode_bytes + block_bytes - 1) / block_bytes;
  const std::uint64_t descriptors_at = first + 1;
  add(first, 1, {BlockClass::superblock, "superblock"});
  add(descriptors_at, (groups * descriptor + block_bytes - 1) / block_bytes,
      {BlockClass::bitmap, "group descriptors"});
  const auto table = bytes_at(read, descriptors_at * block_bytes, groups * descriptor);
  if (!table) return;
  std::uint64_t first_table = 0;
  for (std::uint64_t group = 0; group < groups; ++group) {
    const auto pointer = [&](std::size_t low, std::size_t high) {
      const std::uint64_t place = little(*table, group * descriptor + low, 4);
      return descriptor >= 64 ? place | little(*table, group * descriptor + high, 4) << 32 : place;
    };
    add(pointer(0, 0x20), 1, {BlockClass::bitmap, fmt::format("block bitmap of group {}", group)});
    add(pointer(4, 0x24), 1, {BlockClass::bitmap, fmt::format("inode bitmap of group {}", group)});
    const std::uint64_t inodes = pointer(8, 0x28);
    add(inodes, table_blocks, {BlockClass::inode, fmt::format("inode table of group {}", group)},
        group * inodes_per_group + 1);
    if (group == 0) first_table = inodes;
  }
  // The journal's blocks, when its inode has them in one place or a few.
  const auto journal = bytes_at(read, first_table * block_bytes + (kJournalInode - 1) * inode_bytes, 128);
  if (!journal || little(*journal, 40, 2) != 0xf30a || little(*journal, 46, 2) != 0) return;
  const std::uint64_t extents = std::min<std::uint64_t>(little(*journal, 42, 2), kExtentsInInode);
  for (std::size_t i = 0; i < extents; ++i) {
    const std::size_t at = 52 + 12 * i;
    const std::uint64_t place = little(*journal, at + 8, 4) | little(*journal, at + 6, 2) << 32;
    add(place, little(*journal, at + 4, 2), {BlockClass::journal, "journal: a copy of a block"});
  }
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
  constexpr std::size_t kXfsInodeNumber = 152;  // di_ino, of version 3
  if (type_ == "xfs" && block.size() >= kXfsInodeNumber + 8 && big(block, 0, 2) == 0x494e &&
      big(block, 4, 1) == 3)
    return BlockKind{BlockClass::inode, fmt::format("inodes from {} on", big(block, kXfsInodeNumber, 8))};
  return std::nullopt;
}

BlockKind kind_of_write(const DiskMap& map, std::uint64_t lba, Bytes data) {
  BlockKind kind{BlockClass::other, describe_write(map.type(), lba, data, &map)};
  for (std::size_t at = 0; at < data.size(); at += kLookedAtBytes) {
    const Bytes piece = data.subspan(at, std::min(kLookedAtBytes, data.size() - at));
    const auto known = known_block(map.type(), lba + at / model::kSectorBytes, piece, &map);
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
