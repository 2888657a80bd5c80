#pragma once
// The meta-data snapshotting file system on the disk: superblock pair, inode records, trees.
// FORMAT.md has the tables.
//
// Source: Soares, Krieger and Da Silva, "Meta-data Snapshotting: A Simple Mechanism for File System
// Consistency", III-A (superblock, record map and bitmaps as one tree) and III-E (superblock pair).
//
//   superblock -> record map        -> inode records -> pointers -> blocks of files and directories
//              -> map of inodes     a bit for each
//              -> map of blocks     a bit for each
//
// A block's address is its number from the device's start; 0 is none. Encoding trusts its input,
// decoding does not.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fs-adapters/substrate/tree/attributes.h"
#include "plugin/base/result.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

using BlockAddress = std::uint32_t;
using tree::InodeNumber;

inline constexpr std::size_t kSectorBytes = model::kSectorBytes;
inline constexpr std::size_t kSuperblockBytes = 4 * kSectorBytes;
/// Of the two slots, in bytes; nothing else lies before kReservedBytes.
inline constexpr std::array<std::uint64_t, 2> kSlotAt = {4096, 8192};
inline constexpr std::uint64_t kReservedBytes = 12288;
inline constexpr std::uint32_t kBlockBytesMin = 512, kBlockBytesMax = 8192;
inline constexpr std::uint32_t kPointerBytes = 4;
inline constexpr std::uint32_t kInodeBytes = 128;
inline constexpr std::uint32_t kDirectPointers = 12;
inline constexpr std::uint32_t kIndirectLevels = 3;
inline constexpr InodeNumber kRootInode = 2;

/// A tree of blocks of addresses over `leaves` leaves: depth 0 is the leaf alone. An address 0
/// stands for a leaf of zeroes, or for nothing but such.
struct TreeShape {
  std::uint32_t leaves = 0;
  std::uint32_t fanout = 0;
  std::uint32_t depth = 0;  ///< levels of addresses above the leaves
  std::uint32_t nodes = 0;  ///< blocks of addresses when all are there

  static TreeShape over(std::uint64_t leaves, std::uint32_t block_bytes);
  std::uint32_t blocks() const { return leaves + nodes; }
  /// Which slot of the block of addresses on `level` leads to the leaf; level 0 is the topmost.
  std::uint32_t slot(std::uint32_t leaf, std::uint32_t level) const;
};

/// Where a file's block hangs: pointer `root` of the inode, then a slot in each block of addresses.
struct PointerWay {
  std::uint32_t root = 0;  ///< 0 to 11: the block itself; 12, 13, 14: single, double, triple
  std::uint32_t depth = 0;
  std::array<std::uint32_t, kIndirectLevels> slots = {};  ///< from the topmost block down
};

enum class VersionCheck : std::uint8_t {
  every_sector,  ///< the generation in each sector, and the checksum
  first_sector,  ///< a control's: the first sector's generation is believed to be that of all
};

struct Superblock {
  std::uint32_t id = 0;  ///< of this file system: another mkfs gives another one
  std::uint32_t block_bytes = 0, blocks = 0, inodes = 0;
  VersionCheck version_check = VersionCheck::every_sector;
  std::uint32_t log_blocks = 0;  ///< of the intent log (log_record.h); 0: there is none

  std::uint64_t generation = 0;
  bool clean = false;  ///< it was unmounted with this generation
  BlockAddress record_map = 0, inode_map = 0, block_map = 0;
  BlockAddress snapshot_table = 0;  ///< 0: no snapshot has ever been made
  /// Blocks that neither this generation nor a snapshot has.
  std::uint32_t free_blocks = 0, free_inodes = 0;
  std::uint32_t unlinked = 0;  ///< inodes without links that were open when this generation ended
  std::uint32_t next_generation = 1;  ///< of the next inode that is made
  tree::Timestamp time;

  /// The log begins there.
  std::uint32_t log_block() const {
    return static_cast<std::uint32_t>((kReservedBytes + block_bytes - 1) / block_bytes);
  }
  std::size_t log_bytes() const { return std::size_t{log_blocks} * block_bytes; }
  std::uint32_t first_block() const { return log_block() + log_blocks; }
  bool holds(std::uint64_t address) const { return address >= first_block() && address < blocks; }
  std::uint32_t sectors_per_block() const { return block_bytes / kSectorBytes; }
  std::uint64_t lba_of(BlockAddress address) const {
    return std::uint64_t{address} * sectors_per_block();
  }
  std::uint32_t pointers_per_block() const { return block_bytes / kPointerBytes; }
  std::uint32_t records_per_block() const { return block_bytes / kInodeBytes; }
  std::uint32_t bits_per_block() const { return block_bytes * 8; }
  std::uint64_t blocks_per_file_max() const;
  std::uint64_t file_bytes_max() const { return blocks_per_file_max() * block_bytes; }
  TreeShape record_tree() const;
  TreeShape inode_tree() const;
  TreeShape block_tree() const;
  PointerWay way_to(std::uint64_t file_block) const;  ///< below blocks_per_file_max()
};

/// kSuperblockBytes of them.
std::vector<std::byte> encode(const Superblock& superblock);
/// An Error: no superblock of this format, a torn one, or one that makes no sense on a device of
/// that size.
Result<Superblock> decode_superblock(std::span<const std::byte> bytes,
                                     std::uint64_t device_sectors);
/// The newer one of the slots that are whole. An Error says what is wrong with each.
Result<Superblock> read_superblock(const model::SectorStore& store);
inline std::uint64_t slot_lba(std::size_t slot) {
  return kSlotAt[slot % kSlotAt.size()] / kSectorBytes;
}

struct Inode : tree::Attributes {
  InodeNumber number = 0;
  std::uint32_t blocks = 0;  ///< of the file, blocks of addresses too
  /// Direct ones, then those of the single, double and triple block of addresses.
  std::array<BlockAddress, kDirectPointers + kIndirectLevels> pointers = {};
  bool operator==(const Inode&) const = default;
};

void encode(const Inode& inode, std::span<std::byte> record);
/// For who edits records: the checksum of what the record says now. Zeroes stay zeroes.
void seal_inode(std::span<std::byte> record);
/// Nothing: all zeroes, no inode. An Error: it is damaged, or another one's.
Result<std::optional<Inode>> decode_inode(std::span<const std::byte> record, InodeNumber number,
                                          const Superblock& superblock);

}  // namespace headcrash::snapfs
