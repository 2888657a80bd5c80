#pragma once
// The snapshots that are kept: a block with their roots, to which the superblock leads. FORMAT.md
// has the table.
//
// A snapshot is a generation whose roots are kept. Its map of blocks says which blocks it has, so
// that making one copies nothing: a block may be used again when neither the newest generation's
// map nor that of a snapshot has it (Soares, Krieger and Da Silva, V-B).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/snapshots.h"

namespace headcrash::snapfs {

inline constexpr std::size_t kSnapshotNameMax = 31;

struct SnapshotEntry {
  std::string name;
  std::uint64_t generation = 0;
  tree::Timestamp time;
  BlockAddress record_map = 0, inode_map = 0, block_map = 0;
  BlockAddress table = 0;  ///< the block that was the table of its generation
  std::uint32_t free_inodes = 0, unlinked = 0, next_generation = 1;
};

/// Not empty, at most kSnapshotNameMax bytes, without '/', ',', blanks and what cannot be printed.
bool is_snapshot_name(std::string_view name);
/// How many a table has room for.
std::size_t snapshots_max(std::uint32_t block_bytes);
/// Fills the block.
void encode_snapshots(std::span<const SnapshotEntry> snapshots, std::span<std::byte> block);
/// An Error: no table, a damaged one, one with roots that make no sense.
Result<std::vector<SnapshotEntry>> decode_snapshots(std::span<const std::byte> block,
                                                    const Superblock& superblock);
/// For who edits tables: the checksum of what it says now.
void seal_snapshots(std::span<std::byte> block);
/// None, if the superblock has no table.
Result<std::vector<SnapshotEntry>> read_snapshots(const model::SectorStore& store,
                                                  const Superblock& superblock);
/// An Error names those that there are.
Result<SnapshotEntry> find_snapshot(std::span<const SnapshotEntry> snapshots,
                                    std::string_view name);
/// In the words of fs-adapters/snapshots.h.
std::vector<SnapshotInfo> infos_of(std::span<const SnapshotEntry> snapshots);
/// As that of the snapshot's generation was; its free blocks are not known.
Superblock superblock_of(const SnapshotEntry& snapshot, const Superblock& newest);

}  // namespace headcrash::snapfs
