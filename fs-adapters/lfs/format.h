#pragma once
// The log-structured file system on the disk (FORMAT.md): what its structures hold, and their
// bytes.
//
//   superblock | checkpoint region 0 | checkpoint region 1 | segment 0 | segment 1 | ...
//
// Addresses are sectors of 512 bytes from the device's start, 0 for none. Numbers are
// little-endian. Nothing that is decoded is believed: a structure with another magic number,
// another file system's id or a wrong checksum is not a structure, and addresses are looked at
// (Superblock::holds) before they are followed.
//
// Source: Rosenblum, "The Design and Implementation of a Log-structured File System", 1992, chapter
// 4, where it says how something lies; FORMAT.md says what is ours.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/attributes.h"
#include "plugin/base/result.h"

namespace headcrash::lfs {

using tree::InodeNumber;
using SectorAddress = std::uint32_t;
using SegmentNumber = std::uint32_t;

inline constexpr std::uint32_t kSectorBytes = 512;
inline constexpr std::uint32_t kInodeBytes = 128;
inline constexpr std::uint32_t kInodesPerSector = kSectorBytes / kInodeBytes;
inline constexpr std::uint32_t kDirectPointers = 10;
inline constexpr std::uint32_t kPointers = kDirectPointers + 3;
inline constexpr std::uint32_t kPointerBytes = 4;
inline constexpr std::uint32_t kMapEntryBytes = 12;
inline constexpr std::uint32_t kUsageEntryBytes = 16;
inline constexpr std::uint32_t kSummaryHeaderBytes = 64;
inline constexpr std::uint32_t kSummaryEntryBytes = 16;
inline constexpr InodeNumber kRootInode = 2;  // as everywhere
inline constexpr SectorAddress kSuperblockAddress = 16;

/// A block of a file: its data (level 0) or one of its index blocks. Index blocks of a level are
/// numbered in the order of the data they map: block 0 of level 1 is the single indirect one,
/// blocks 1 and up lie below the double indirect one (block 0 of level 2), and so on.
struct BlockId {
  std::uint8_t level = 0;
  std::uint32_t index = 0;
  bool operator==(const BlockId&) const = default;
  bool operator<(const BlockId& other) const {
    return level != other.level ? level < other.level : index < other.index;
  }
  /// As the buffer cache names it: data from 0 up, index blocks below 0.
  std::int64_t key() const {
    return level == 0 ? std::int64_t{index} : -((std::int64_t{level} << 40) + index);
  }
  static BlockId of_key(std::int64_t key) {
    if (key >= 0) return {0, static_cast<std::uint32_t>(key)};
    return {static_cast<std::uint8_t>(-key >> 40), static_cast<std::uint32_t>(-key & 0xffffffff)};
  }
};

/// The block that a pointer of an inode leads to: 0 to kPointers - 1.
inline BlockId block_of_pointer(std::uint32_t slot) {
  if (slot < kDirectPointers) return {0, slot};
  return {static_cast<std::uint8_t>(slot - kDirectPointers + 1), 0};
}

/// Where the address of a block stands: in the inode, or in an index block.
struct PointerPlace {
  bool in_inode = true;
  BlockId parent = {};     ///< unless in the inode
  std::uint32_t slot = 0;  ///< 0 to kPointers - 1 in the inode
};

struct Superblock {
  std::uint32_t id = 0;  ///< of this file system: what an older one left on the disk has another
  std::uint32_t block_bytes = 4096;
  std::uint32_t segment_sectors = 0;
  std::uint32_t segments = 0;
  SectorAddress first_segment = 0;
  std::uint32_t checkpoint_sectors = 0;  ///< of each region
  std::array<SectorAddress, 2> checkpoints = {};
  std::uint32_t inodes = 0;            ///< numbers below it
  std::uint32_t reserve_segments = 0;  ///< which users do not get
  bool checksums =
      true;  ///< off: sprite92, regions and checkpoints end in trailers without a checksum

  std::uint32_t block_sectors() const { return block_bytes / kSectorBytes; }
  std::uint32_t pointers_per_block() const { return block_bytes / kPointerBytes; }
  std::uint32_t map_entries_per_block() const { return (block_bytes - 4) / kMapEntryBytes; }
  std::uint32_t map_blocks() const {
    return (inodes + map_entries_per_block() - 1) / map_entries_per_block();
  }
  std::uint32_t usage_entries_per_block() const {
    return (block_bytes - kUsageEntryBytes) / kUsageEntryBytes;
  }
  std::uint32_t usage_blocks() const {
    return (segments + usage_entries_per_block() - 1) / usage_entries_per_block();
  }
  /// Longer than half a segment: a checkpoint may write it in several regions, and the states of
  /// segments follow from where the log ends (settle_states).
  bool long_usage_table() const {
    return std::uint64_t{usage_blocks()} * block_sectors() > segment_sectors / 2;
  }
  std::uint64_t segment_bytes() const { return std::uint64_t{segment_sectors} * kSectorBytes; }
  std::uint64_t log_sectors() const {
    return std::uint64_t{segments} * segment_sectors;
  }  ///< all segments
  SectorAddress segment_start(SegmentNumber segment) const {
    return first_segment + segment * segment_sectors;
  }
  SegmentNumber segment_of(SectorAddress address) const {
    return (address - first_segment) / segment_sectors;
  }
  /// The range lies within one segment.
  bool holds(SectorAddress address, std::uint32_t sectors) const;
  std::uint64_t blocks_per_file_max() const;
  std::uint64_t file_bytes_max() const { return blocks_per_file_max() * block_bytes; }
  PointerPlace pointer_place(BlockId block) const;
  /// How many blocks of the level a file may have.
  std::uint64_t blocks_of_level(std::uint8_t level) const;
  /// Bytes that a block of a file of that size takes in the log: less than a block only where it is
  /// the last one of a file without index blocks.
  std::uint32_t stored_bytes(std::uint64_t size_bytes, BlockId block) const;
  bool operator==(const Superblock&) const = default;
};

std::vector<std::byte> encode(const Superblock& superblock);  ///< a sector
/// `device_sectors` bounds what it says.
Result<Superblock> decode_superblock(std::span<const std::byte> sector,
                                     std::uint64_t device_sectors);

struct Inode : tree::Attributes {
  InodeNumber number = 0;
  std::uint32_t version = 0;  ///< of its entry in the inode map when it was written
  std::array<SectorAddress, kPointers> pointers = {};
  std::uint32_t sectors = 0;  ///< that its blocks take, index blocks too
  bool operator==(const Inode&) const = default;
};
void encode(const Inode& inode, std::span<std::byte> into);  ///< kInodeBytes
Inode decode_inode(std::span<const std::byte> bytes);
/// Its checksum is right; sprite92 does not look.
bool inode_intact(std::span<const std::byte> bytes, const Superblock& superblock);

struct MapEntry {
  SectorAddress address = 0;  ///< of the sector that holds the inode; 0: not allocated
  std::uint8_t slot = 0;      ///< which of the sector's inodes
  bool unlinked = false;      ///< no name leads to it any more, and somebody had it open
  std::uint32_t version =
      0;  ///< raised when the number is given back and when the file is cut to nothing
  std::uint32_t accessed = 0;  ///< seconds since the epoch, as of the inode's last write
  bool operator==(const MapEntry&) const = default;
  bool allocated() const { return address != 0; }
};
inline constexpr std::uint32_t kVersionMax = (1U << 29) - 1;
void encode(const MapEntry& entry, std::span<std::byte> into);
MapEntry decode_map_entry(std::span<const std::byte> bytes);

enum class SegmentState : std::uint8_t {
  clean,  ///< may be written
  dirty,  ///< holds something, or did until a checkpoint says that it does not
  active  ///< the log's end is there, or will be next
};
struct SegmentUsage {
  std::uint32_t live_bytes = 0;
  SegmentState state = SegmentState::clean;
  std::int64_t youngest_ns = 0;  ///< when the youngest of its blocks was modified
  bool operator==(const SegmentUsage&) const = default;
};
void encode(const SegmentUsage& usage, std::span<std::byte> into);
SegmentUsage decode_usage(std::span<const std::byte> bytes);

struct Checkpoint;
/// Of entries as the checkpoint's blocks have them. A long table is written while the log moves on
/// for it, so that what its blocks say of states may be older than its last block: the log's end
/// and what comes next are active, what holds neither live bytes nor a block of the table is clean,
/// all others are dirty. A short one is left as it is.
void settle_states(const Superblock& superblock, const Checkpoint& checkpoint,
                   std::vector<SegmentUsage>& usage);

/// Puts a checksum at the end of a block of the map or of the usage table.
void seal_table_block(std::span<std::byte> block);
/// sprite92 does not look.
bool table_block_intact(std::span<const std::byte> block, const Superblock& superblock);

/// What a block of a region is.
enum class Content : std::uint8_t {
  data = 0,  ///< levels 1 to 3 are `data` plus the level
  index1 = 1,
  index2 = 2,
  index3 = 3,
  inodes = 4,
  inode_map = 5,
  usage = 6,
  directory_log = 7
};
inline constexpr std::size_t kContents = 8;
struct SummaryEntry {
  Content content = Content::data;
  InodeNumber inode = 0;      ///< of a file's blocks
  std::uint32_t version = 0;  ///< likewise
  std::uint32_t index = 0;    ///< in the file, the map or the table
  std::uint8_t sectors = 0;
  bool operator==(const SummaryEntry&) const = default;
  bool of_file() const { return content <= Content::index3; }
  BlockId block() const { return {static_cast<std::uint8_t>(content), index}; }
};

/// The first sectors of a log region.
struct Summary {
  std::uint64_t sequence = 0;  ///< of the region: one more than that of the one before
  std::uint64_t epoch = 0;     ///< of the mount that wrote it
  std::int64_t time_ns = 0;
  SectorAddress previous = 0;      ///< the summary of the region before
  SegmentNumber next_segment = 0;  ///< where the log goes on when this segment is full
  std::uint32_t sectors = 0;       ///< the whole region
  std::uint32_t data_checksum = 0;
  std::vector<SummaryEntry> entries;

  static std::uint32_t sectors_for(std::size_t entries) {
    return static_cast<std::uint32_t>(
        (kSummaryHeaderBytes + entries * kSummaryEntryBytes + kSectorBytes - 1) / kSectorBytes);
  }
  std::uint32_t summary_sectors() const { return sectors_for(entries.size()); }
};
/// `into`: summary_sectors() sectors of zeroes.
void encode(const Summary& summary, const Superblock& superblock, std::span<std::byte> into);
/// How many sectors the summary takes that begins with this sector; nothing: it is none of this
/// file system.
std::optional<std::uint32_t> summary_sectors(std::span<const std::byte> sector,
                                             const Superblock& superblock);
/// Nothing: it is none, or damaged, or reaches beyond `room_sectors`.
std::optional<Summary> decode_summary(std::span<const std::byte> bytes,
                                      const Superblock& superblock, std::uint32_t room_sectors);
/// Whether the region, all of it, was written: its checksum, or in sprite92 its trailer.
bool region_complete(const Summary& summary, const Superblock& superblock,
                     std::span<const std::byte> region);
/// A region's last sector in sprite92.
void encode_trailer(const Summary& summary, const Superblock& superblock,
                    std::span<std::byte> sector);

struct Checkpoint {
  std::uint64_t sequence = 0;  ///< of the checkpoint: the greater is the newer
  std::int64_t time_ns = 0;
  std::uint64_t epoch = 0;            ///< of the regions that may follow it
  std::uint64_t next_epoch = 1;       ///< which no region has yet
  std::uint64_t region_sequence = 0;  ///< of the last region before it
  SectorAddress last_summary = 0;
  SegmentNumber segment = 0;  ///< where the log goes on
  std::uint32_t offset = 0;   ///< there, in sectors
  SegmentNumber next_segment = 0;
  bool clean = false;      ///< nothing follows it: it is an unmount's, or mkfs's
  bool log_counts = true;  ///< what follows it is to be rolled forward; off: it is gone
  std::uint64_t live_bytes = 0;
  std::uint32_t files = 0;
  std::uint32_t clean_segments = 0;
  // Since mkfs.
  std::uint64_t regions_written = 0, sectors_written = 0, segments_cleaned = 0,
                checkpoints_written = 0;
  std::vector<SectorAddress> map_blocks;  ///< 0: no inode of it was ever allocated
  std::vector<SectorAddress> usage_blocks;

  static std::uint32_t sectors_for(std::uint32_t map_blocks, std::uint32_t usage_blocks);
  bool operator==(const Checkpoint&) const = default;
};
std::vector<std::byte> encode(const Checkpoint& checkpoint, const Superblock& superblock);
std::optional<Checkpoint> decode_checkpoint(std::span<const std::byte> bytes,
                                            const Superblock& superblock);

}  // namespace headcrash::lfs
