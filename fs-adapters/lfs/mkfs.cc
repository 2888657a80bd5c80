#include "fs-adapters/lfs/mkfs.h"

#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/lfs/region.h"
#include "fs-adapters/tree/directory_block.h"

namespace headcrash::lfs {
namespace {

constexpr std::uint32_t kSegmentsMin = 16;
constexpr std::uint32_t kReserveSegmentsMin = 7;
constexpr std::uint32_t kAlignBytesMax = 64 << 20;
constexpr std::uint32_t kInodesMin = 64;

std::uint32_t round_up(std::uint64_t value, std::uint32_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

Result<Superblock> lay_out(std::uint64_t device_sectors, const MkfsOptions& o) {
  if (o.segment_bytes % o.block_bytes != 0 || o.block_bytes % kSectorBytes != 0 || o.bytes_per_inode < 256)
    return fail("mkfs", "segments are not a multiple of the block", "give other sizes");
  if (o.align_bytes == 0 || o.align_bytes % kSectorBytes != 0 || o.align_bytes > kAlignBytesMax)
    return fail("mkfs", fmt::format("segments aligned to {} bytes", o.align_bytes),
                "give a multiple of 512 up to 64M");
  Superblock s{.id = o.id,
               .block_bytes = o.block_bytes,
               .segment_sectors = o.segment_bytes / kSectorBytes,
               .checksums = o.checksums};
  const std::uint64_t inodes = device_sectors * kSectorBytes / o.bytes_per_inode;
  s.inodes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(inodes, kInodesMin, 1U << 28));
  s.segments =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(device_sectors / s.segment_sectors, 1U << 24));
  for (; s.segments >= kSegmentsMin; --s.segments) {
    s.checkpoint_sectors = Checkpoint::sectors_for(s.map_blocks(), s.usage_blocks());
    const std::uint32_t unit = s.block_sectors();
    s.checkpoints[0] = round_up(kSuperblockAddress + 1, unit);
    s.checkpoints[1] = round_up(s.checkpoints[0] + s.checkpoint_sectors, unit);
    s.first_segment = round_up(s.checkpoints[1] + s.checkpoint_sectors, o.align_bytes / kSectorBytes);
    if (s.first_segment + std::uint64_t{s.segments} * s.segment_sectors <= device_sectors) break;
  }
  if (s.segments < kSegmentsMin)
    return fail("mkfs", fmt::format("fewer than {} segments of {} bytes", kSegmentsMin, o.segment_bytes),
                "give a larger device or smaller segments");
  s.reserve_segments = std::max(kReserveSegmentsMin, s.segments * o.reserve_percent / 100);
  return decode_superblock(encode(s), device_sectors);
}

/// The first region: the root directory, its inode, the block of the map that has it, the usage table.
class FirstRegion {
 public:
  FirstRegion(const Superblock& superblock, const MkfsOptions& options)
      : s_(superblock), o_(options), region_(superblock, superblock.segment_sectors) {}

  Result<void> write(model::SectorStore& store) {
    const auto unit = static_cast<std::uint8_t>(s_.block_sectors());
    const std::size_t data = *region_.add({Content::data, kRootInode, 0, 0, 1});
    const std::size_t inodes = *region_.add({Content::inodes, 0, 0, 0, 1});
    const std::size_t map = *region_.add({Content::inode_map, 0, 0, 0, unit});
    std::vector<std::size_t> usage;
    for (std::uint32_t i = 0; i < s_.usage_blocks(); ++i) {
      const auto added = region_.add({Content::usage, 0, 0, i, unit});
      if (!added) return fail("mkfs", "the usage table has no room in a segment", "give larger segments");
      usage.push_back(*added);
    }
    region_.place(s_.segment_start(0));
    tree::format_directory(region_.bytes(data), kRootInode, kRootInode);
    encode(root(region_.address(data)), region_.bytes(inodes));
    encode(MapEntry{.address = region_.address(inodes)},
           region_.bytes(map).subspan(kRootInode * kMapEntryBytes, kMapEntryBytes));
    const std::uint32_t counted = kSectorBytes + kInodeBytes + s_.block_bytes;
    const std::uint32_t live = counted + static_cast<std::uint32_t>(usage.size()) * s_.block_bytes;
    encode(SegmentUsage{counted, SegmentState::active, time_ns()}, region_.bytes(usage[0]));
    encode(SegmentUsage{0, SegmentState::active, 0}, region_.bytes(usage[0]).subspan(kUsageEntryBytes));
    seal_table_block(region_.bytes(map));
    for (const std::size_t one : usage) seal_table_block(region_.bytes(one));
    const auto bytes = region_.finish({.sequence = 1, .epoch = 0, .time_ns = time_ns(), .next_segment = 1});
    if (auto written = store.write(region_.start(), bytes); !written) return written;
    return write_checkpoint(store, map, usage, live);
  }

 private:
  std::int64_t time_ns() const { return o_.time.seconds * 1'000'000'000LL + o_.time.nanoseconds; }

  Inode root(SectorAddress data) const {
    Inode inode;
    inode.mode = tree::kTypeDirectory | 0755;
    inode.links = 2;
    inode.size_bytes = tree::kChunkBytes;
    inode.accessed = inode.modified = inode.changed = o_.time;
    inode.number = kRootInode;
    inode.pointers[0] = data;
    inode.sectors = 1;
    return inode;
  }

  Result<void> write_checkpoint(model::SectorStore& store, std::size_t map,
                                const std::vector<std::size_t>& usage, std::uint32_t live) {
    Checkpoint c{.sequence = 1,
                 .time_ns = time_ns(),
                 .region_sequence = 1,
                 .last_summary = region_.start(),
                 .offset = region_.sectors(),
                 .next_segment = 1,
                 .clean = true,
                 .live_bytes = live,
                 .files = 1,
                 .clean_segments = s_.segments - 2,
                 .map_blocks = std::vector<SectorAddress>(s_.map_blocks())};
    c.map_blocks[0] = region_.address(map);
    for (const std::size_t one : usage) c.usage_blocks.push_back(region_.address(one));
    if (auto written = store.write(s_.checkpoints[0], encode(c, s_)); !written) return written;
    return store.write_zeroes(s_.checkpoints[1], s_.checkpoint_sectors);
  }

  const Superblock& s_;
  const MkfsOptions& o_;
  Region region_;
};

}  // namespace

Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options) {
  const auto superblock = lay_out(store.sectors(), options);
  if (!superblock) return superblock;
  if (auto written = FirstRegion(*superblock, options).write(store); !written) return pass_on(written);
  if (auto written = store.write(kSuperblockAddress, encode(*superblock)); !written) return pass_on(written);
  return superblock;
}

}  // namespace headcrash::lfs
