#include "fs-adapters/lfs/mkfs.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "fs-adapters/lfs/region.h"
#include "fs-adapters/substrate/tree/directory_block.h"

namespace headcrash::lfs {
namespace {

constexpr std::uint32_t kSegmentsMin = 16;
constexpr std::uint32_t kReserveSegmentsMin = 7;
constexpr std::uint32_t kAlignBytesMax = 64 << 20;
constexpr std::uint32_t kInodesMin = 64;
constexpr std::uint64_t kSectorsMax = std::uint64_t{1} << 32U;  // addresses have 32 bits

std::uint32_t round_up(std::uint64_t value, std::uint32_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

Result<Superblock> lay_out(std::uint64_t device_sectors, const MkfsOptions& o) {
  if (o.segment_bytes % o.block_bytes != 0 || o.block_bytes % kSectorBytes != 0 ||
      o.bytes_per_inode < 256)
    return fail(
        "mkfs",
        "the segment size is not a multiple of the block size, or there are fewer than 256 bytes "
        "per inode",
        "use a multiple of the block size, and at least 256 bytes per inode");
  if (o.align_bytes == 0 || o.align_bytes % kSectorBytes != 0 || o.align_bytes > kAlignBytesMax)
    return fail("mkfs", fmt::format("invalid segment alignment: {} bytes", o.align_bytes),
                "use a multiple of 512 up to 64M");
  Superblock s{.id = o.id,
               .block_bytes = o.block_bytes,
               .segment_sectors = o.segment_bytes / kSectorBytes,
               .checksums = o.checksums};
  if (device_sectors > kSectorsMax)
    return fail(
        "mkfs",
        fmt::format("a device of {} bytes exceeds the limit of {} bytes for 32-bit addresses",
                    device_sectors * kSectorBytes, kSectorsMax * kSectorBytes),
        "use a device of at most 2T");
  const std::uint64_t inodes = device_sectors * kSectorBytes / o.bytes_per_inode;
  s.inodes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(inodes, kInodesMin, 1U << 28));
  s.segments = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(device_sectors / s.segment_sectors, 1U << 24));
  for (; s.segments >= kSegmentsMin; --s.segments) {
    s.checkpoint_sectors = Checkpoint::sectors_for(s.map_blocks(), s.usage_blocks());
    const std::uint32_t unit = s.block_sectors();
    s.checkpoints[0] = round_up(kSuperblockAddress + 1, unit);
    s.checkpoints[1] = round_up(s.checkpoints[0] + s.checkpoint_sectors, unit);
    s.first_segment =
        round_up(s.checkpoints[1] + s.checkpoint_sectors, o.align_bytes / kSectorBytes);
    if (s.first_segment + s.log_sectors() <= std::min(device_sectors, kSectorsMax - 1)) break;
  }
  if (s.segments < kSegmentsMin)
    return fail("mkfs",
                fmt::format("the device has fewer than {} segments of {} bytes", kSegmentsMin,
                            o.segment_bytes),
                "use a larger device or smaller segments");
  s.reserve_segments = std::max(kReserveSegmentsMin, s.segments * o.reserve_percent / 100);
  return decode_superblock(encode(s), device_sectors);
}

/// The first regions of the log. They contain the root directory, its inode, the block of the inode
/// map that lists this inode, and the usage table. There is only one region, unless a long table
/// fills several segments.
class FirstRegions {
 public:
  FirstRegions(const Superblock& superblock, const MkfsOptions& options)
      : s_(superblock), o_(options) {}

  Result<void> write(model::SectorStore& store) {
    const auto unit = static_cast<std::uint8_t>(s_.block_sectors());
    begin_region();
    Region& first = regions_.front();
    const std::size_t data = *first.add({Content::data, kRootInode, 0, 0, 1});
    const std::size_t inodes = *first.add({Content::inodes, 0, 0, 0, 1});
    const std::size_t map = *first.add({Content::inode_map, 0, 0, 0, unit});
    for (std::uint32_t i = 0; i < s_.usage_blocks(); ++i) {
      if (!regions_.back().has_room(1, unit)) begin_region();
      usage_.push_back(
          {regions_.size() - 1, *regions_.back().add({Content::usage, 0, 0, i, unit})});
    }
    for (SegmentNumber i = 0; i < regions_.size(); ++i) regions_[i].place(s_.segment_start(i));
    tree::format_directory(first.bytes(data), kRootInode, kRootInode);
    encode(root(first.address(data)), first.bytes(inodes));
    encode(MapEntry{.address = first.address(inodes)},
           first.bytes(map).subspan(kRootInode * kMapEntryBytes, kMapEntryBytes));
    seal_table_block(first.bytes(map));
    const std::uint32_t counted = kSectorBytes + kInodeBytes + s_.block_bytes;
    fill_table(counted);
    for (SegmentNumber i = 0; i < regions_.size(); ++i) {
      const auto bytes = regions_[i].finish({.sequence = i + 1,
                                             .epoch = 0,
                                             .time_ns = time_ns(),
                                             .previous = i == 0 ? 0 : regions_[i - 1].start(),
                                             .next_segment = i + 1});
      TRY(store.write(regions_[i].start(), bytes));
    }
    return write_checkpoint(store, map, counted + s_.usage_blocks() * s_.block_bytes);
  }

 private:
  struct Place {
    std::size_t region = 0, item = 0;
  };

  void begin_region() { regions_.emplace_back(s_, s_.segment_sectors); }
  SegmentNumber last_segment() const { return static_cast<SegmentNumber>(regions_.size() - 1); }
  std::span<std::byte> bytes_of(Place place) { return regions_[place.region].bytes(place.item); }

  std::int64_t time_ns() const { return o_.time.seconds * 1'000'000'000LL + o_.time.nanoseconds; }

  /// Fills in the table. Only the first segment contains live bytes that are counted. The other
  /// segments contain at most blocks of the table itself, which are not counted.
  void fill_table(std::uint32_t counted) {
    for (SegmentNumber i = 0; i <= last_segment() + 1; ++i) {
      const SegmentUsage usage{i == 0 ? counted : 0,
                               i < last_segment() ? SegmentState::dirty : SegmentState::active,
                               i == 0 ? time_ns() : 0};
      const std::uint32_t within = i % s_.usage_entries_per_block();
      encode(usage, bytes_of(usage_[i / s_.usage_entries_per_block()])
                        .subspan(std::size_t{within} * kUsageEntryBytes));
    }
    for (const Place one : usage_) seal_table_block(bytes_of(one));
  }

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

  Result<void> write_checkpoint(model::SectorStore& store, std::size_t map, std::uint64_t live) {
    Checkpoint c{.sequence = 1,
                 .time_ns = time_ns(),
                 .region_sequence = regions_.size(),
                 .last_summary = regions_.back().start(),
                 .segment = last_segment(),
                 .offset = regions_.back().sectors(),
                 .next_segment = last_segment() + 1,
                 .clean = true,
                 .live_bytes = live,
                 .files = 1,
                 .clean_segments = s_.segments - last_segment() - 2,
                 .map_blocks = std::vector<SectorAddress>(s_.map_blocks())};
    c.map_blocks[0] = regions_.front().address(map);
    for (const Place one : usage_) c.usage_blocks.push_back(regions_[one.region].address(one.item));
    TRY(store.write(s_.checkpoints[0], encode(c, s_)));
    return store.write_zeroes(s_.checkpoints[1], s_.checkpoint_sectors);
  }

  const Superblock& s_;
  const MkfsOptions& o_;
  std::deque<Region> regions_;  ///< one region in each segment
  std::vector<Place> usage_;    ///< addresses of the table's blocks
};

}  // namespace

Result<Superblock> mkfs(model::SectorStore& store, const MkfsOptions& options) {
  const auto superblock = lay_out(store.sectors(), options);
  if (!superblock) return superblock;
  TRY(FirstRegions(*superblock, options).write(store));
  TRY(store.write(kSuperblockAddress, encode(*superblock)));
  return superblock;
}

}  // namespace headcrash::lfs
