// Encodes and decodes the structures (format.h). FORMAT.md has the tables.
#include "fs-adapters/snapfs/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::snapfs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kMagic = 0x5350'4e53;  // "SNPS"
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::size_t kSectors = kSuperblockBytes / kSectorBytes;
constexpr std::size_t kGenerationAt = kSectorBytes - 8;  // offset of the generation in each sector
constexpr std::size_t kSecond = kSectorBytes, kThird = 2 * kSectorBytes, kFourth = 3 * kSectorBytes;
constexpr std::uint32_t kFlagClean = 1, kFlagFirstSectorOnly = 2;
constexpr std::size_t kInodeChecksumAt = 124;
constexpr std::uint32_t kInodesMax = 1U << 28;
constexpr std::uint64_t kFileBlocksMax = 0x7fff'ffff;

std::uint32_t checksum_of(std::span<const std::byte> superblock) {
  const std::array<std::byte, 4> zero = {};
  std::uint32_t crc = crc32c(superblock.first(kFourth));
  crc = crc32c(zero, crc);
  return crc32c(superblock.subspan(kFourth + 4), crc);
}

void encode(std::span<std::byte> bytes, std::size_t at, const tree::Timestamp& time) {
  store32(bytes, at, static_cast<std::uint32_t>(time.seconds));
  store32(bytes, at + 4, static_cast<std::uint32_t>(time.nanoseconds));
}

tree::Timestamp decode_time(std::span<const std::byte> bytes, std::size_t at) {
  return {.seconds = static_cast<std::int32_t>(load32(bytes, at)),
          .nanoseconds = static_cast<std::int32_t>(load32(bytes, at + 4))};
}

std::string problem_of(const Superblock& s, std::uint64_t device_sectors) {
  if (!std::has_single_bit(s.block_bytes) || s.block_bytes < kBlockBytesMin ||
      s.block_bytes > kBlockBytesMax)
    return "block size";
  if (s.log_blocks >= s.blocks) return "blocks of the log";
  if (s.blocks <= s.first_block() ||
      std::uint64_t{s.blocks} * s.sectors_per_block() > device_sectors)
    return "blocks that extend beyond the device";
  const std::uint64_t records = std::uint64_t{s.blocks} * (s.block_bytes / kInodeBytes);
  if (s.inodes <= kRootInode || s.inodes > std::min<std::uint64_t>(kInodesMax, records))
    return "number of inodes";
  for (const BlockAddress root : {s.record_map, s.inode_map, s.block_map})
    if (!s.holds(root)) return "root of a tree";
  if (s.snapshot_table != 0 && !s.holds(s.snapshot_table)) return "table of snapshots";
  if (s.free_blocks > s.blocks || s.free_inodes > s.inodes || s.unlinked > s.inodes)
    return "counts";
  return {};
}

}  // namespace

TreeShape TreeShape::over(std::uint64_t leaves, std::uint32_t block_bytes) {
  TreeShape shape{.leaves = static_cast<std::uint32_t>(leaves),
                  .fanout = block_bytes / kPointerBytes};
  for (std::uint64_t level = leaves; level > 1;) {
    level = (level + shape.fanout - 1) / shape.fanout;
    shape.nodes += static_cast<std::uint32_t>(level);
    ++shape.depth;
  }
  return shape;
}

std::uint32_t TreeShape::slot(std::uint32_t leaf, std::uint32_t level) const {
  for (std::uint32_t below = depth - 1 - level; below > 0; --below) leaf /= fanout;
  return leaf % fanout;
}

std::uint64_t Superblock::blocks_per_file_max() const {
  const std::uint64_t p = pointers_per_block();
  return std::min(kDirectPointers + p + p * p + p * p * p, kFileBlocksMax);
}

TreeShape Superblock::record_tree() const {
  return TreeShape::over((inodes + records_per_block() - 1) / records_per_block(), block_bytes);
}
TreeShape Superblock::inode_tree() const {
  return TreeShape::over((inodes + bits_per_block() - 1) / bits_per_block(), block_bytes);
}
TreeShape Superblock::block_tree() const {
  return TreeShape::over((std::uint64_t{blocks} + bits_per_block() - 1) / bits_per_block(),
                         block_bytes);
}

PointerPath Superblock::path_to(std::uint64_t file_block) const {
  if (file_block < kDirectPointers) return {.root = static_cast<std::uint32_t>(file_block)};
  const std::uint64_t p = pointers_per_block();
  std::uint64_t below = file_block - kDirectPointers;
  std::uint64_t span = p;
  std::uint32_t depth = 1;
  for (; below >= span && depth < kIndirectLevels; ++depth) {
    below -= span;
    span *= p;
  }
  PointerPath path{.root = kDirectPointers + depth - 1, .depth = depth};
  for (std::uint32_t level = 0; level < depth; ++level) {
    span /= p;
    path.slots[level] = static_cast<std::uint32_t>(below / span);
    below %= span;
  }
  return path;
}

std::vector<std::byte> encode(const Superblock& s) {
  std::vector<std::byte> bytes(kSuperblockBytes);
  const std::span<std::byte> b(bytes);
  const std::uint32_t flags =
      (s.clean ? kFlagClean : 0U) |
      (s.version_check == VersionCheck::first_sector ? kFlagFirstSectorOnly : 0U);
  std::size_t at = 0;
  for (const std::uint32_t word :
       {kMagic, kFormatVersion, s.id, s.block_bytes, s.blocks, s.inodes, flags, s.log_blocks}) {
    store32(b, at, word);
    at += 4;
  }
  store32(b, kSecond, s.record_map);
  store32(b, kSecond + 4, s.inode_map);
  store32(b, kSecond + 8, s.unlinked);
  store32(b, kSecond + 12, s.next_generation);
  store32(b, kSecond + 16, s.snapshot_table);
  store32(b, kThird, s.block_map);
  store32(b, kThird + 4, s.free_blocks);
  store32(b, kThird + 8, s.free_inodes);
  encode(b, kThird + 12, s.time);
  for (std::size_t sector = 0; sector < kSectors; ++sector)
    store64(b, sector * kSectorBytes + kGenerationAt, s.generation);
  store32(b, kFourth, checksum_of(b));
  return bytes;
}

Result<Superblock> decode_superblock(std::span<const std::byte> b, std::uint64_t device_sectors) {
  if (b.size() < kSuperblockBytes || load32(b, 0) != kMagic || load32(b, 4) != kFormatVersion)
    return fail("snapfs", "no superblock");
  const std::uint32_t flags = load32(b, 24);
  Superblock s{.id = load32(b, 8),
               .block_bytes = load32(b, 12),
               .blocks = load32(b, 16),
               .inodes = load32(b, 20),
               .version_check = (flags & kFlagFirstSectorOnly) != 0 ? VersionCheck::first_sector
                                                                    : VersionCheck::every_sector,
               .log_blocks = load32(b, 28),
               .generation = load64(b, kGenerationAt),
               .clean = (flags & kFlagClean) != 0,
               .record_map = load32(b, kSecond),
               .inode_map = load32(b, kSecond + 4),
               .block_map = load32(b, kThird),
               .snapshot_table = load32(b, kSecond + 16),
               .free_blocks = load32(b, kThird + 4),
               .free_inodes = load32(b, kThird + 8),
               .unlinked = load32(b, kSecond + 8),
               .next_generation = load32(b, kSecond + 12),
               .time = decode_time(b, kThird + 12)};
  if (s.version_check == VersionCheck::every_sector) {
    for (std::size_t sector = 1; sector < kSectors; ++sector)
      if (load64(b, sector * kSectorBytes + kGenerationAt) != s.generation)
        return fail("snapfs", "torn superblock");
    if (load32(b, kFourth) != checksum_of(b))
      return fail("snapfs", "bad checksum of the superblock");
  }
  if (auto problem = problem_of(s, device_sectors); !problem.empty())
    return fail("snapfs", "invalid superblock: " + problem);
  return s;
}

Result<Superblock> read_superblock(const model::SectorStore& store) {
  if (store.sectors() * kSectorBytes < kReservedBytes)
    return fail("snapfs", "the device is too small");
  std::optional<Superblock> newest;
  std::string problems;
  std::vector<std::byte> bytes(kSuperblockBytes);
  for (const std::uint64_t at : kSlotAt) {
    TRY(store.read(at / kSectorBytes, bytes));
    auto found = decode_superblock(bytes, store.sectors());
    if (!found) {
      problems += (problems.empty() ? "" : "; in slot 1 ") + found.error().problem;
    } else if (!newest || found->generation > newest->generation) {
      newest = *found;
    }
  }
  if (!newest)
    return fail("snapfs", "no valid superblock: in slot 0 " + problems,
                "create a file system with mkfs");
  return *newest;
}

void encode(const Inode& inode, std::span<std::byte> r) {
  store32(r, 0, inode.number);
  store16(r, 4, inode.mode);
  store16(r, 6, inode.links);
  store64(r, 8, inode.size_bytes);
  encode(r, 16, inode.accessed);
  encode(r, 24, inode.modified);
  encode(r, 32, inode.changed);
  store32(r, 40, inode.generation);
  store32(r, 44, inode.user);
  store32(r, 48, inode.group);
  store32(r, 52, inode.blocks);
  for (std::size_t i = 0; i < inode.pointers.size(); ++i)
    store32(r, 56 + i * kPointerBytes, inode.pointers[i]);
  store32(r, kInodeChecksumAt - 8, 0);
  store32(r, kInodeChecksumAt - 4, 0);
  seal_inode(r);
}

void seal_inode(std::span<std::byte> r) {
  const auto told = r.first(kInodeChecksumAt);
  if (std::ranges::any_of(told, [](std::byte b) { return b != std::byte{0}; }))
    store32(r, kInodeChecksumAt, crc32c(told));
}

Result<std::optional<Inode>> decode_inode(std::span<const std::byte> r, InodeNumber number,
                                          const Superblock& superblock) {
  const auto refuse_it = [&](const char* why) {
    return fail(fmt::format("snapfs inode {}", number), why);
  };
  const auto record = r.first(kInodeBytes);
  if (std::ranges::all_of(record, [](std::byte b) { return b == std::byte{0}; }))
    return std::optional<Inode>();
  if (load32(r, kInodeChecksumAt) != crc32c(r.first(kInodeChecksumAt)))
    return refuse_it("bad checksum");
  Inode inode;
  inode.number = load32(r, 0);
  inode.mode = load16(r, 4);
  inode.links = load16(r, 6);
  inode.size_bytes = load64(r, 8);
  inode.accessed = decode_time(r, 16);
  inode.modified = decode_time(r, 24);
  inode.changed = decode_time(r, 32);
  inode.generation = load32(r, 40);
  inode.user = load32(r, 44);
  inode.group = load32(r, 48);
  inode.blocks = load32(r, 52);
  for (std::size_t i = 0; i < inode.pointers.size(); ++i)
    inode.pointers[i] = load32(r, 56 + i * kPointerBytes);
  if (inode.number != number) return refuse_it("the record has a different inode number");
  if (!inode.is_directory() && !inode.is_regular() && !inode.is_symlink())
    return refuse_it("invalid mode");
  if (!inode.has_possible_size(superblock.file_bytes_max(),
                               std::uint64_t{superblock.blocks} * superblock.block_bytes))
    return refuse_it("exceeds the maximum size of a file or directory");
  return std::optional<Inode>(inode);
}

}  // namespace headcrash::snapfs
