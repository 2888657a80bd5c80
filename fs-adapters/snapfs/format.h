#pragma once
// The disk format of the meta-data snapshotting file system: superblock pair, inode records, trees.
// FORMAT.md has the tables.
//
// Source: Soares, Krieger and Da Silva, "Meta-data Snapshotting: A Simple Mechanism for File System
// Consistency", III-A (superblock, record map and bitmaps as one tree) and III-E (superblock pair).
//
//   superblock -> record map        -> inode records -> pointers -> blocks of files and directories
//              -> map of inodes     one bit each
//              -> map of blocks     one bit each
//
// A block's address is its number from the device's start; 0 means none. Encoding trusts its input;
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
/// Positions of the two slots for superblocks, in bytes. Nothing else is stored in the first
/// kReservedBytes.
inline constexpr std::array<std::uint64_t, 2> kSlotAt = {4096, 8192};
inline constexpr std::uint64_t kReservedBytes = 12288;
inline constexpr std::uint32_t kBlockBytesMin = 512, kBlockBytesMax = 8192;
inline constexpr std::uint32_t kPointerBytes = 4;
inline constexpr std::uint32_t kInodeBytes = 128;
inline constexpr std::uint32_t kDirectPointers = 12;
inline constexpr std::uint32_t kIndirectLevels = 3;
inline constexpr InodeNumber kRootInode = 2;

/// The shape of a tree of address blocks that has `leaves` leaves. A tree of depth 0 is a single
/// leaf. In an address block, 0 represents a leaf of zeroes, or a subtree of such leaves.
struct TreeShape {
  std::uint32_t leaves = 0;
  std::uint32_t fanout = 0;
  std::uint32_t depth = 0;  ///< number of levels of address blocks above the leaves
  std::uint32_t nodes = 0;  ///< maximum number of address blocks in the tree

  static TreeShape over(std::uint64_t leaves, std::uint32_t block_bytes);
  std::uint32_t blocks() const { return leaves + nodes; }
  /// Returns the slot, in the address block on `level`, that leads to the leaf. Level 0 is the top.
  std::uint32_t slot(std::uint32_t leaf, std::uint32_t level) const;
};

/// The path to a block of a file: the pointer `root` in the inode, then a slot in each address
/// block.
struct PointerPath {
  /// 0 to 11: a direct pointer; 12, 13, 14: the single, double or triple indirect pointer.
  std::uint32_t root = 0;
  std::uint32_t depth = 0;
  /// Slot in each address block on the path, top level first.
  std::array<std::uint32_t, kIndirectLevels> slots = {};
};

enum class VersionCheck : std::uint8_t {
  every_sector,  ///< checks the generation in each sector, and the checksum
  first_sector,  ///< for a control: checks the generation in the first sector only, and no checksum
};

struct Superblock {
  std::uint32_t id = 0;  ///< file system id; each mkfs assigns a new id
  std::uint32_t block_bytes = 0, blocks = 0, inodes = 0;
  VersionCheck version_check = VersionCheck::every_sector;
  std::uint32_t log_blocks = 0;  ///< size of the intent log (log_record.h); 0 if there is no log

  std::uint64_t generation = 0;
  bool clean = false;  ///< written by an unmount
  BlockAddress record_map = 0, inode_map = 0, block_map = 0;
  BlockAddress snapshot_table = 0;  ///< 0 if there has never been a snapshot
  /// Numbers of free blocks and inodes. Blocks used by this generation or by a snapshot are not
  /// free.
  std::uint32_t free_blocks = 0, free_inodes = 0;
  /// Number of inodes without links that were still open at the end of this generation.
  std::uint32_t unlinked = 0;
  std::uint32_t next_generation = 1;  ///< generation number of the next new inode
  tree::Timestamp time;

  /// Number of the log's first block.
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
  /// Returns the path to a block of a file. `file_block` must be below blocks_per_file_max().
  PointerPath path_to(std::uint64_t file_block) const;
};

/// Returns kSuperblockBytes bytes.
std::vector<std::byte> encode(const Superblock& superblock);
/// Decodes a superblock. Fails if the bytes are not a superblock of this format, are torn, or are
/// not valid for a device of this size.
Result<Superblock> decode_superblock(std::span<const std::byte> bytes,
                                     std::uint64_t device_sectors);
/// Reads both slots and returns the newer of the valid superblocks. If none is valid, the Error
/// describes both slots.
Result<Superblock> read_superblock(const model::SectorStore& store);
inline std::uint64_t slot_lba(std::size_t slot) {
  return kSlotAt[slot % kSlotAt.size()] / kSectorBytes;
}

struct Inode : tree::Attributes {
  InodeNumber number = 0;
  std::uint32_t blocks = 0;  ///< number of the file's blocks, including address blocks
  /// The addresses of the first blocks, then those of the single, double and triple address block.
  std::array<BlockAddress, kDirectPointers + kIndirectLevels> pointers = {};
  bool operator==(const Inode&) const = default;
};

void encode(const Inode& inode, std::span<std::byte> record);
/// Updates the checksum of a record that was edited. Leaves a record of zeroes unchanged.
void seal_inode(std::span<std::byte> record);
/// Returns nullopt for a record of zeroes, which means that there is no inode. Fails if the record
/// is damaged or belongs to another inode number.
Result<std::optional<Inode>> decode_inode(std::span<const std::byte> record, InodeNumber number,
                                          const Superblock& superblock);

}  // namespace headcrash::snapfs
