// Encodes and decodes the structures on the disk (format.h). FORMAT.md describes the layout.
#include "fs-adapters/lfs/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "plugin/base/crc32c.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::lfs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kSuperblockMagic = 0x5346'4c48;  // "HLFS"
constexpr std::uint32_t kSummaryMagic = 0x4d55'534c;     // "LSUM"
constexpr std::uint32_t kTrailerMagic = 0x4c52'544c;     // "LTRL"
constexpr std::uint32_t kCheckpointMagic = 0x5450'434c;  // "LCPT"
constexpr std::uint32_t kFormatVersion = 2;
// The version of file systems with a long usage table. Programs for version 2 cannot read such file
// systems.
constexpr std::uint32_t kLongTableVersion = 3;
constexpr std::uint32_t kClean = 1, kLogIsGone = 2;  // a checkpoint's flags
constexpr std::size_t kSuperblockChecksumAt = 60;
constexpr std::size_t kSummaryChecksumAt = 52;
constexpr std::size_t kInodeChecksumAt = 124;
constexpr std::uint32_t kSegmentsMax = 1U << 24;

/// Returns the checksum of the bytes, with zero in place of the checksum field.
std::uint32_t checksum_without(std::span<const std::byte> bytes, std::size_t at) {
  const std::array<std::byte, 4> zero = {};
  std::uint32_t crc = crc32c(bytes.first(at));
  crc = crc32c(zero, crc);
  return crc32c(bytes.subspan(at + 4), crc);
}

/// Returns the checksum to store at the end of a structure in a region that also has a checksum of
/// its own. A message followed by its CRC is a multiple of the CRC's polynomial. With a plain CRC
/// here, the region's checksum would therefore not change if one such structure were replaced by
/// another. The multiplication prevents this.
std::uint32_t inner_checksum(std::span<const std::byte> bytes) {
  return crc32c(bytes) * 2654435761U;
}

std::string problem_of(const Superblock& s, std::uint64_t device_sectors) {
  if (!std::has_single_bit(s.block_bytes) || s.block_bytes < 512 || s.block_bytes > 8192)
    return "block size";
  if (s.segment_sectors < 8 * s.block_sectors() || s.segment_sectors > (64U << 20) / kSectorBytes)
    return "segment size";
  if (s.segments < 4 || s.segments > kSegmentsMax || s.reserve_segments >= s.segments)
    return "segments";
  if (s.inodes <= kRootInode ||
      s.inodes > std::min<std::uint64_t>(1U << 28, device_sectors * kInodesPerSector))
    return "number of inodes";
  const std::uint64_t end = s.first_segment + std::uint64_t{s.segments} * s.segment_sectors;
  if (end > device_sectors || end > 0xffff'ffff) return "segments: they extend beyond the device";
  if (s.checkpoint_sectors != Checkpoint::sectors_for(s.map_blocks(), s.usage_blocks()))
    return "size of the checkpoint regions";
  for (const SectorAddress at : s.checkpoints)
    if (at <= kSuperblockAddress || std::uint64_t{at} + s.checkpoint_sectors > s.first_segment)
      return "position of the checkpoint regions";
  if (s.checkpoints[0] + s.checkpoint_sectors > s.checkpoints[1])
    return "position of the checkpoint regions";
  if (s.long_usage_table() && std::uint64_t{s.usage_blocks()} * s.block_sectors() >
                                  std::uint64_t{s.reserve_segments} * s.segment_sectors / 4)
    return "usage table: longer than a quarter of the reserved segments";
  return {};
}

std::uint32_t version_of(const Superblock& s) {
  return s.long_usage_table() ? kLongTableVersion : kFormatVersion;
}

}  // namespace

bool Superblock::holds(SectorAddress address, std::uint32_t sectors) const {
  if (address < first_segment || sectors == 0 || sectors > segment_sectors) return false;
  const std::uint32_t inside = address - first_segment;
  const std::uint32_t segment = inside / segment_sectors;
  return segment < segments && inside - segment * segment_sectors + sectors <= segment_sectors;
}

std::uint64_t Superblock::blocks_of_level(std::uint8_t level) const {
  const std::uint64_t p = pointers_per_block();
  switch (level) {
    case 0:
      return blocks_per_file_max();
    case 1:
      return 1 + p + p * p;
    case 2:
      return 1 + p;
    default:
      return 1;
  }
}

std::uint64_t Superblock::blocks_per_file_max() const {
  const std::uint64_t p = pointers_per_block();
  return std::min<std::uint64_t>(kDirectPointers + p + p * p + p * p * p, 0x7fff'ffff);
}

PointerPlace Superblock::pointer_place(BlockId block) const {
  const std::uint32_t p = pointers_per_block();
  if (block.level == 0) {
    if (block.index < kDirectPointers) return {true, {}, block.index};
    const std::uint32_t below = block.index - kDirectPointers;
    return {false, {1, below / p}, below % p};
  }
  if (block.index == 0) return {true, {}, kDirectPointers + block.level - 1U};
  const std::uint32_t below = block.index - 1;
  return {false, {static_cast<std::uint8_t>(block.level + 1), below / p}, below % p};
}

std::uint32_t Superblock::stored_bytes(std::uint64_t size_bytes, BlockId block) const {
  if (block.level != 0 || size_bytes > std::uint64_t{kDirectPointers} * block_bytes)
    return block_bytes;
  const std::uint64_t start = std::uint64_t{block.index} * block_bytes;
  if (size_bytes <= start || size_bytes >= start + block_bytes) return block_bytes;
  const auto tail = static_cast<std::uint32_t>(size_bytes - start);
  return (tail + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
}

std::vector<std::byte> encode(const Superblock& s) {
  std::vector<std::byte> sector(kSectorBytes);
  const std::span<std::byte> b(sector);
  const std::array<std::uint32_t, 15> words = {kSuperblockMagic,
                                               version_of(s),
                                               s.id,
                                               s.block_bytes,
                                               s.segment_sectors,
                                               s.segments,
                                               s.first_segment,
                                               s.checkpoint_sectors,
                                               s.checkpoints[0],
                                               s.checkpoints[1],
                                               s.inodes,
                                               s.reserve_segments,
                                               s.checksums ? 1U : 0U,
                                               0,
                                               0};
  for (std::size_t i = 0; i < words.size(); ++i) store32(b, 4 * i, words[i]);
  store32(b, kSuperblockChecksumAt, checksum_without(b, kSuperblockChecksumAt));
  return sector;
}

Result<Superblock> decode_superblock(std::span<const std::byte> b, std::uint64_t device_sectors) {
  if (b.size() < kSectorBytes || load32(b, 0) != kSuperblockMagic)
    return fail("lfs superblock", "not found", "create a file system with mkfs");
  b = b.first(kSectorBytes);
  const std::uint32_t version = load32(b, 4);
  if (version != kFormatVersion && version != kLongTableVersion)
    return fail("lfs superblock", fmt::format("unsupported format version {}", version),
                "use a newer headcrash");
  if (load32(b, kSuperblockChecksumAt) != checksum_without(b, kSuperblockChecksumAt))
    return fail("lfs superblock", "bad checksum");
  Superblock s{.id = load32(b, 8),
               .block_bytes = load32(b, 12),
               .segment_sectors = load32(b, 16),
               .segments = load32(b, 20),
               .first_segment = load32(b, 24),
               .checkpoint_sectors = load32(b, 28),
               .checkpoints = {load32(b, 32), load32(b, 36)},
               .inodes = load32(b, 40),
               .reserve_segments = load32(b, 44),
               .checksums = load32(b, 48) == 1};
  if (const std::string problem = problem_of(s, device_sectors); !problem.empty())
    return fail("lfs superblock", "invalid " + problem);
  if (version != version_of(s))
    return fail("lfs superblock",
                fmt::format("format version {} is incompatible with a usage table of {} blocks",
                            version, s.usage_blocks()));
  return s;
}

void encode(const Inode& inode, std::span<std::byte> b) {
  store16(b, 0, inode.mode);
  store16(b, 2, inode.links);
  store32(b, 4, inode.number);
  store64(b, 8, inode.size_bytes);
  std::size_t at = 16;
  for (const tree::Timestamp& time : {inode.accessed, inode.modified, inode.changed}) {
    store32(b, at, static_cast<std::uint32_t>(time.seconds));
    store32(b, at + 4, static_cast<std::uint32_t>(time.nanoseconds));
    at += 8;
  }
  store32(b, 40, inode.user);
  store32(b, 44, inode.group);
  store32(b, 48, inode.generation);
  store32(b, 52, inode.version);
  for (std::size_t i = 0; i < kPointers; ++i) store32(b, 56 + 4 * i, inode.pointers[i]);
  store32(b, 108, inode.sectors);
  std::fill(b.begin() + 112, b.begin() + kInodeBytes, std::byte{0});
  store32(b, kInodeChecksumAt, inner_checksum(b.first(kInodeChecksumAt)));
}

bool inode_intact(std::span<const std::byte> b, const Superblock& superblock) {
  return !superblock.checksums ||
         load32(b, kInodeChecksumAt) == inner_checksum(b.first(kInodeChecksumAt));
}

void seal_table_block(std::span<std::byte> block) {
  store32(block, block.size() - 4, inner_checksum(block.first(block.size() - 4)));
}

bool table_block_intact(std::span<const std::byte> block, const Superblock& superblock) {
  return !superblock.checksums ||
         load32(block, block.size() - 4) == inner_checksum(block.first(block.size() - 4));
}

Inode decode_inode(std::span<const std::byte> b) {
  Inode inode;
  inode.mode = load16(b, 0);
  inode.links = load16(b, 2);
  inode.number = load32(b, 4);
  inode.size_bytes = load64(b, 8);
  std::size_t at = 16;
  for (tree::Timestamp* time : {&inode.accessed, &inode.modified, &inode.changed}) {
    time->seconds = static_cast<std::int32_t>(load32(b, at));
    time->nanoseconds = static_cast<std::int32_t>(load32(b, at + 4));
    at += 8;
  }
  inode.user = load32(b, 40);
  inode.group = load32(b, 44);
  inode.generation = load32(b, 48);
  inode.version = load32(b, 52);
  for (std::size_t i = 0; i < kPointers; ++i) inode.pointers[i] = load32(b, 56 + 4 * i);
  inode.sectors = load32(b, 108);
  return inode;
}

void encode(const MapEntry& entry, std::span<std::byte> b) {
  store32(b, 0, entry.address);
  store32(b, 4, entry.version << 3U | (entry.unlinked ? 4U : 0U) | (entry.slot & 3U));
  store32(b, 8, entry.accessed);
}

MapEntry decode_map_entry(std::span<const std::byte> b) {
  const std::uint32_t word = load32(b, 4);
  return {.address = load32(b, 0),
          .slot = static_cast<std::uint8_t>(word & 3U),
          .unlinked = (word & 4U) != 0,
          .version = word >> 3U,
          .accessed = load32(b, 8)};
}

void encode(const SegmentUsage& usage, std::span<std::byte> b) {
  store32(b, 0, usage.live_bytes);
  store32(b, 4, static_cast<std::uint32_t>(usage.state));
  store64(b, 8, static_cast<std::uint64_t>(usage.youngest_ns));
}

SegmentUsage decode_usage(std::span<const std::byte> b) {
  const std::uint32_t state = load32(b, 4);
  return {.live_bytes = load32(b, 0),
          // A segment with an invalid state counts as `dirty`, so that it is not overwritten.
          .state = state <= static_cast<std::uint32_t>(SegmentState::active)
                       ? static_cast<SegmentState>(state)
                       : SegmentState::dirty,
          .youngest_ns = static_cast<std::int64_t>(load64(b, 8))};
}

void encode(const Summary& s, const Superblock& superblock, std::span<std::byte> b) {
  store32(b, 0, kSummaryMagic);
  store32(b, 4, superblock.id);
  store64(b, 8, s.sequence);
  store64(b, 16, s.epoch);
  store64(b, 24, static_cast<std::uint64_t>(s.time_ns));
  store32(b, 32, s.previous);
  store32(b, 36, s.next_segment);
  store32(b, 40, s.sectors);
  store32(b, 44, static_cast<std::uint32_t>(s.entries.size()));
  store32(b, 48, s.data_checksum);
  std::size_t at = kSummaryHeaderBytes;
  for (const SummaryEntry& entry : s.entries) {
    store32(b, at, entry.inode);
    store32(b, at + 4, entry.version);
    store32(b, at + 8, entry.index);
    store8(b, at + 12, static_cast<std::uint8_t>(entry.content));
    store8(b, at + 13, entry.sectors);
    at += kSummaryEntryBytes;
  }
  // In sprite92, a summary has no checksum; the region's trailer validates it.
  if (superblock.checksums) store32(b, kSummaryChecksumAt, checksum_without(b, kSummaryChecksumAt));
}

std::optional<std::uint32_t> summary_sectors(std::span<const std::byte> b,
                                             const Superblock& superblock) {
  if (b.size() < kSectorBytes || load32(b, 0) != kSummaryMagic || load32(b, 4) != superblock.id)
    return std::nullopt;
  const std::uint32_t entries = load32(b, 44);
  const std::uint32_t sectors = load32(b, 40);
  if (sectors > superblock.segment_sectors || entries > sectors) return std::nullopt;
  const std::uint32_t own = Summary::sectors_for(entries);
  if (own > sectors) return std::nullopt;
  return own;
}

std::optional<Summary> decode_summary(std::span<const std::byte> b, const Superblock& superblock,
                                      std::uint32_t room_sectors) {
  const auto own = summary_sectors(b, superblock);
  if (!own || b.size() < std::size_t{*own} * kSectorBytes) return std::nullopt;
  b = b.first(std::size_t{*own} * kSectorBytes);
  if (superblock.checksums &&
      load32(b, kSummaryChecksumAt) != checksum_without(b, kSummaryChecksumAt))
    return std::nullopt;
  Summary s{.sequence = load64(b, 8),
            .epoch = load64(b, 16),
            .time_ns = static_cast<std::int64_t>(load64(b, 24)),
            .previous = load32(b, 32),
            .next_segment = load32(b, 36),
            .sectors = load32(b, 40),
            .data_checksum = load32(b, 48),
            .entries = std::vector<SummaryEntry>(load32(b, 44))};
  if (s.sectors > room_sectors || s.next_segment >= superblock.segments) return std::nullopt;
  std::uint64_t sum = *own + (superblock.checksums ? 0U : 1U);
  std::size_t at = kSummaryHeaderBytes;
  for (SummaryEntry& entry : s.entries) {
    const std::uint8_t content = load8(b, at + 12);
    if (content > static_cast<std::uint8_t>(Content::directory_log)) return std::nullopt;
    entry = {.content = static_cast<Content>(content),
             .inode = load32(b, at),
             .version = load32(b, at + 4),
             .index = load32(b, at + 8),
             .sectors = load8(b, at + 13)};
    if (entry.sectors == 0) return std::nullopt;
    sum += entry.sectors;
    at += kSummaryEntryBytes;
  }
  if (sum != s.sectors) return std::nullopt;
  return s;
}

bool region_complete(const Summary& s, const Superblock& superblock,
                     std::span<const std::byte> region) {
  if (region.size() != std::size_t{s.sectors} * kSectorBytes) return false;
  if (superblock.checksums)
    return crc32c(region.subspan(std::size_t{s.summary_sectors()} * kSectorBytes)) ==
           s.data_checksum;
  const auto trailer = region.last(kSectorBytes);
  return load32(trailer, 0) == kTrailerMagic && load32(trailer, 4) == superblock.id &&
         load64(trailer, 8) == s.sequence && load64(trailer, 16) == s.epoch;
}

void encode_trailer(const Summary& s, const Superblock& superblock, std::span<std::byte> sector) {
  store32(sector, 0, kTrailerMagic);
  store32(sector, 4, superblock.id);
  store64(sector, 8, s.sequence);
  store64(sector, 16, s.epoch);
}

std::uint32_t Checkpoint::sectors_for(std::uint32_t map_blocks, std::uint32_t usage_blocks) {
  const std::uint64_t pointers = (std::uint64_t{map_blocks} + usage_blocks) * kPointerBytes;
  return static_cast<std::uint32_t>(2 + (pointers + kSectorBytes - 1) / kSectorBytes);
}

std::vector<std::byte> encode(const Checkpoint& c, const Superblock& superblock) {
  invariant(c.map_blocks.size() == superblock.map_blocks() &&
                c.usage_blocks.size() == superblock.usage_blocks(),
            "lfs: a checkpoint must list every block of the inode map and the usage table");
  std::vector<std::byte> bytes(std::size_t{superblock.checkpoint_sectors} * kSectorBytes);
  const std::span<std::byte> b(bytes);
  store32(b, 0, kCheckpointMagic);
  store32(b, 4, superblock.id);
  store64(b, 8, c.sequence);
  store64(b, 16, static_cast<std::uint64_t>(c.time_ns));
  store64(b, 24, c.epoch);
  store64(b, 32, c.next_epoch);
  store64(b, 40, c.region_sequence);
  store32(b, 48, c.last_summary);
  store32(b, 52, c.segment);
  store32(b, 56, c.offset);
  store32(b, 60, c.next_segment);
  store64(b, 64, c.live_bytes);
  store32(b, 72, c.files);
  store32(b, 76, c.clean_segments);
  store64(b, 80, c.regions_written);
  store64(b, 88, c.sectors_written);
  store64(b, 96, c.segments_cleaned);
  store64(b, 104, c.checkpoints_written);
  store32(b, 112, (c.clean ? kClean : 0U) | (c.log_counts ? 0U : kLogIsGone));
  std::size_t at = kSectorBytes;
  for (const auto* addresses : {&c.map_blocks, &c.usage_blocks}) {
    for (const SectorAddress address : *addresses) {
      store32(b, at, address);
      at += kPointerBytes;
    }
  }
  const std::size_t trailer = b.size() - kSectorBytes;
  store32(b, trailer, kTrailerMagic);
  store64(b, trailer + 8, c.sequence);
  if (superblock.checksums) store32(b, trailer + 16, crc32c(b.first(trailer + 16)));
  return bytes;
}

void settle_states(const Superblock& superblock, const Checkpoint& checkpoint,
                   std::vector<SegmentUsage>& usage) {
  if (!superblock.long_usage_table()) return;
  std::vector<bool> has_table(superblock.segments);
  for (const SectorAddress address : checkpoint.usage_blocks)
    has_table[superblock.segment_of(address)] = true;
  for (SegmentNumber i = 0; i < superblock.segments; ++i) {
    if (i == checkpoint.segment || i == checkpoint.next_segment)
      usage[i].state = SegmentState::active;
    else if (usage[i].live_bytes == 0 && !has_table[i])
      usage[i] = {};
    else
      usage[i].state = SegmentState::dirty;
  }
}

std::optional<Checkpoint> decode_checkpoint(std::span<const std::byte> b,
                                            const Superblock& superblock) {
  if (b.size() != std::size_t{superblock.checkpoint_sectors} * kSectorBytes) return std::nullopt;
  const std::size_t trailer = b.size() - kSectorBytes;
  if (load32(b, 0) != kCheckpointMagic || load32(b, 4) != superblock.id ||
      load32(b, trailer) != kTrailerMagic || load64(b, trailer + 8) != load64(b, 8))
    return std::nullopt;
  if (superblock.checksums && load32(b, trailer + 16) != crc32c(b.first(trailer + 16)))
    return std::nullopt;
  Checkpoint c{.sequence = load64(b, 8),
               .time_ns = static_cast<std::int64_t>(load64(b, 16)),
               .epoch = load64(b, 24),
               .next_epoch = load64(b, 32),
               .region_sequence = load64(b, 40),
               .last_summary = load32(b, 48),
               .segment = load32(b, 52),
               .offset = load32(b, 56),
               .next_segment = load32(b, 60),
               .clean = (load32(b, 112) & kClean) != 0,
               .log_counts = (load32(b, 112) & kLogIsGone) == 0,
               .live_bytes = load64(b, 64),
               .files = load32(b, 72),
               .clean_segments = load32(b, 76),
               .regions_written = load64(b, 80),
               .sectors_written = load64(b, 88),
               .segments_cleaned = load64(b, 96),
               .checkpoints_written = load64(b, 104),
               .map_blocks = std::vector<SectorAddress>(superblock.map_blocks()),
               .usage_blocks = std::vector<SectorAddress>(superblock.usage_blocks())};
  if (c.segment >= superblock.segments || c.next_segment >= superblock.segments ||
      c.segment == c.next_segment || c.offset > superblock.segment_sectors ||
      c.epoch >= c.next_epoch)
    return std::nullopt;
  std::size_t at = kSectorBytes;
  for (auto* addresses : {&c.map_blocks, &c.usage_blocks}) {
    for (SectorAddress& address : *addresses) {
      address = load32(b, at);
      if (address != 0 && !superblock.holds(address, superblock.block_sectors()))
        return std::nullopt;
      at += kPointerBytes;
    }
  }
  for (const SectorAddress address : c.usage_blocks)
    if (address == 0) return std::nullopt;
  return c;
}

}  // namespace headcrash::lfs
