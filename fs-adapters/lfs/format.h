#pragma once
// The disk format of the log-structured file system (FORMAT.md): its structures and their encoding.
//
//   superblock | checkpoint region 0 | checkpoint region 1 | segment 0 | segment 1 | ...
//
// An address is a sector number (512 bytes) from the start of the device; 0 means none. Numbers are
// little-endian. Decoded data is untrusted: a structure with a wrong magic number, file system id
// or checksum is rejected, and addresses are checked (Superblock::holds) before use.
//
// Source: Rosenblum, "The Design and Implementation of a Log-structured File System", 1992, chapter
// 4. FORMAT.md lists our additions, including the parts of the layout that the source omits.

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
inline constexpr InodeNumber kRootInode = 2;  // the root's traditional number
inline constexpr SectorAddress kSuperblockAddress = 16;

/// A block of a file: data (level 0) or an index block. The index blocks on each level are numbered
/// in the order of the data to which they lead. Block 0 on level 1 is the single indirect block.
/// Blocks 1 and up on level 1 are below the double indirect block (block 0 on level 2), and so on.
struct BlockId {
  std::uint8_t level = 0;
  std::uint32_t index = 0;
  bool operator==(const BlockId&) const = default;
  bool operator<(const BlockId& other) const {
    return level != other.level ? level < other.level : index < other.index;
  }
  /// Returns the block's number in the buffer cache: 0 or higher for data, negative for index
  /// blocks.
  std::int64_t key() const {
    return level == 0 ? std::int64_t{index} : -((std::int64_t{level} << 40) + index);
  }
  static BlockId of_key(std::int64_t key) {
    if (key >= 0) return {0, static_cast<std::uint32_t>(key)};
    return {static_cast<std::uint8_t>(-key >> 40), static_cast<std::uint32_t>(-key & 0xffffffff)};
  }
};

/// Returns the block to which an inode's pointer, 0 to kPointers - 1, refers.
inline BlockId block_of_pointer(std::uint32_t slot) {
  if (slot < kDirectPointers) return {0, slot};
  return {static_cast<std::uint8_t>(slot - kDirectPointers + 1), 0};
}

/// The place where a block's address is stored: a slot in the inode or in an index block.
struct PointerPlace {
  bool in_inode = true;
  /// The index block that contains the slot. Unused if the inode contains the slot.
  BlockId parent = {};
  std::uint32_t slot = 0;  ///< slot number; in the inode, 0 to kPointers - 1
};

struct Superblock {
  /// File system id. Blocks left over from an earlier file system have a different id.
  std::uint32_t id = 0;
  std::uint32_t block_bytes = 4096;
  std::uint32_t segment_sectors = 0;
  std::uint32_t segments = 0;
  SectorAddress first_segment = 0;
  std::uint32_t checkpoint_sectors = 0;  ///< size of each checkpoint region
  std::array<SectorAddress, 2> checkpoints = {};
  std::uint32_t inodes = 0;            ///< number of inodes; all inode numbers are below this
  std::uint32_t reserve_segments = 0;  ///< number of segments that are not available to users
  /// If false (sprite92), regions and checkpoints have no checksum, but end in trailers.
  bool checksums = true;

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
  /// Returns true if the usage table exceeds half a segment. In that case a checkpoint may write
  /// the table in several regions, and segment states are derived from the end of the log
  /// (settle_states).
  bool long_usage_table() const {
    return std::uint64_t{usage_blocks()} * block_sectors() > segment_sectors / 2;
  }
  std::uint64_t segment_bytes() const { return std::uint64_t{segment_sectors} * kSectorBytes; }
  /// Returns the total size of all segments.
  std::uint64_t log_sectors() const { return std::uint64_t{segments} * segment_sectors; }
  SectorAddress segment_start(SegmentNumber segment) const {
    return first_segment + segment * segment_sectors;
  }
  SegmentNumber segment_of(SectorAddress address) const {
    return (address - first_segment) / segment_sectors;
  }
  /// Returns true if the range is within one segment.
  bool holds(SectorAddress address, std::uint32_t sectors) const;
  std::uint64_t blocks_per_file_max() const;
  std::uint64_t file_bytes_max() const { return blocks_per_file_max() * block_bytes; }
  PointerPlace pointer_place(BlockId block) const;
  /// Returns the maximum number of blocks that a file can have on `level`.
  std::uint64_t blocks_of_level(std::uint8_t level) const;
  /// Returns the size that a block has in the log if its file has `size_bytes`. Only the last block
  /// of a file without index blocks may be shorter than a full block.
  std::uint32_t stored_bytes(std::uint64_t size_bytes, BlockId block) const;
  bool operator==(const Superblock&) const = default;
};

std::vector<std::byte> encode(const Superblock& superblock);  ///< returns one sector
/// Fails if the superblock is invalid or describes a device of more than `device_sectors` sectors.
Result<Superblock> decode_superblock(std::span<const std::byte> sector,
                                     std::uint64_t device_sectors);

struct Inode : tree::Attributes {
  InodeNumber number = 0;
  /// The version that the inode map had for this inode number when the inode was written.
  std::uint32_t version = 0;
  std::array<SectorAddress, kPointers> pointers = {};
  std::uint32_t sectors = 0;  ///< number of sectors in the file's blocks, including index blocks
  bool operator==(const Inode&) const = default;
};
void encode(const Inode& inode, std::span<std::byte> into);  ///< writes kInodeBytes bytes
Inode decode_inode(std::span<const std::byte> bytes);
/// Returns true if the checksum is correct. In sprite92 there is no checksum, and the result is
/// always true.
bool inode_intact(std::span<const std::byte> bytes, const Superblock& superblock);

struct MapEntry {
  SectorAddress address = 0;  ///< address of the inode's sector; 0 if not allocated
  std::uint8_t slot = 0;      ///< index of the inode in that sector
  bool unlinked = false;      ///< the inode has no name, but was open when the map was written
  /// Incremented when the inode number is freed, and when the file is truncated to 0.
  std::uint32_t version = 0;
  /// Access time in seconds since the epoch, as of the last time the inode was written.
  std::uint32_t accessed = 0;
  bool operator==(const MapEntry&) const = default;
  bool allocated() const { return address != 0; }
};
inline constexpr std::uint32_t kVersionMax = (1U << 29) - 1;
void encode(const MapEntry& entry, std::span<std::byte> into);
MapEntry decode_map_entry(std::span<const std::byte> bytes);

enum class SegmentState : std::uint8_t {
  clean,  ///< may be overwritten
  dirty,  ///< has live data, or has become empty since the last checkpoint
  active  ///< contains the end of the log, or is the segment after that
};
struct SegmentUsage {
  std::uint32_t live_bytes = 0;
  SegmentState state = SegmentState::clean;
  std::int64_t youngest_ns = 0;  ///< modification time of the segment's youngest block
  bool operator==(const SegmentUsage&) const = default;
};
void encode(const SegmentUsage& usage, std::span<std::byte> into);
SegmentUsage decode_usage(std::span<const std::byte> bytes);

struct Checkpoint;
/// Corrects the states in entries that were read from the checkpoint's blocks. The log advances
/// while a long table is written. When the last block of the table is written, the states in the
/// first blocks may therefore be outdated. The segment at the end of the log and the next one
/// become active; segments with neither live bytes nor table blocks become clean; all others become
/// dirty. A short table is left unchanged.
void settle_states(const Superblock& superblock, const Checkpoint& checkpoint,
                   std::vector<SegmentUsage>& usage);

/// Writes the checksum at the end of a map block or usage table block.
void seal_table_block(std::span<std::byte> block);
/// Returns true if the checksum is correct. In sprite92 there is no checksum, and the result is
/// always true.
bool table_block_intact(std::span<const std::byte> block, const Superblock& superblock);

/// The kind of a block in a region.
enum class Content : std::uint8_t {
  data = 0,  ///< data of a file; index blocks on levels 1 to 3 have the value `data` plus the level
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
  InodeNumber inode = 0;      ///< set only for blocks of a file
  std::uint32_t version = 0;  ///< set only for blocks of a file
  std::uint32_t index = 0;    ///< block number within the file, the inode map or the usage table
  std::uint8_t sectors = 0;
  bool operator==(const SummaryEntry&) const = default;
  bool of_file() const { return content <= Content::index3; }
  BlockId block() const { return {static_cast<std::uint8_t>(content), index}; }
};

/// The summary that begins a log region and describes the region's contents.
struct Summary {
  /// Sequence number of the region; consecutive regions have consecutive numbers.
  std::uint64_t sequence = 0;
  std::uint64_t epoch = 0;  ///< epoch of the mount that wrote the region
  std::int64_t time_ns = 0;
  SectorAddress previous = 0;  ///< address of the previous region's summary
  /// Segment in which the log continues when the current segment is full.
  SegmentNumber next_segment = 0;
  std::uint32_t sectors = 0;  ///< size of the region
  std::uint32_t data_checksum = 0;
  std::vector<SummaryEntry> entries;

  static std::uint32_t sectors_for(std::size_t entries) {
    return static_cast<std::uint32_t>(
        (kSummaryHeaderBytes + entries * kSummaryEntryBytes + kSectorBytes - 1) / kSectorBytes);
  }
  std::uint32_t summary_sectors() const { return sectors_for(entries.size()); }
};
/// `into` must have summary_sectors() sectors, all zero.
void encode(const Summary& summary, const Superblock& superblock, std::span<std::byte> into);
/// Returns the length of the summary that begins with this sector; nullopt if no summary of this
/// file system begins here.
std::optional<std::uint32_t> summary_sectors(std::span<const std::byte> sector,
                                             const Superblock& superblock);
/// Decodes a summary. Returns nullopt if the bytes are not a summary, are damaged, or describe a
/// region longer than `room_sectors`.
std::optional<Summary> decode_summary(std::span<const std::byte> bytes,
                                      const Superblock& superblock, std::uint32_t room_sectors);
/// Returns true if the whole region was written, according to its checksum or, in sprite92, its
/// trailer.
bool region_complete(const Summary& summary, const Superblock& superblock,
                     std::span<const std::byte> region);
/// Encodes the last sector of a region, for sprite92.
void encode_trailer(const Summary& summary, const Superblock& superblock,
                    std::span<std::byte> sector);

struct Checkpoint {
  /// Number of the checkpoint; the newer checkpoint has the higher number.
  std::uint64_t sequence = 0;
  std::int64_t time_ns = 0;
  std::uint64_t epoch = 0;            ///< epoch of the regions that may follow the checkpoint
  std::uint64_t next_epoch = 1;       ///< first epoch that no region uses yet
  std::uint64_t region_sequence = 0;  ///< number of the last region before the checkpoint
  SectorAddress last_summary = 0;
  SegmentNumber segment = 0;  ///< segment in which the log ends
  std::uint32_t offset = 0;   ///< end of the log, in sectors within the segment
  SegmentNumber next_segment = 0;
  bool clean = false;  ///< written by an unmount or by mkfs, so no log follows
  /// If true, a mount must roll the log forward after this checkpoint. If false, the log after the
  /// checkpoint has been discarded.
  bool log_counts = true;
  std::uint64_t live_bytes = 0;
  std::uint32_t files = 0;
  std::uint32_t clean_segments = 0;
  // Counters since mkfs.
  std::uint64_t regions_written = 0, sectors_written = 0, segments_cleaned = 0,
                checkpoints_written = 0;
  /// Addresses of the inode map's blocks. An address is 0 if no inode in that block has ever been
  /// allocated.
  std::vector<SectorAddress> map_blocks;
  std::vector<SectorAddress> usage_blocks;

  static std::uint32_t sectors_for(std::uint32_t map_blocks, std::uint32_t usage_blocks);
  bool operator==(const Checkpoint&) const = default;
};
std::vector<std::byte> encode(const Checkpoint& checkpoint, const Superblock& superblock);
std::optional<Checkpoint> decode_checkpoint(std::span<const std::byte> bytes,
                                            const Superblock& superblock);

}  // namespace headcrash::lfs
