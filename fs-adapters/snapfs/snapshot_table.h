#pragma once
// The table of kept snapshots: a block that contains their roots. The superblock refers to this
// block. FORMAT.md describes the table.
//
// A snapshot is a generation whose roots are kept. The block map of a snapshot shows which blocks
// the snapshot contains, so creating a snapshot copies nothing. A block may be reused when neither
// the newest generation's map nor any snapshot's map contains it (Soares, Krieger and Da Silva,
// V-B).

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
  BlockAddress table = 0;  ///< the block of the snapshot table in that generation
  std::uint32_t free_inodes = 0, unlinked = 0, next_generation = 1;
};

/// Returns true if the name is not empty, has at most kSnapshotNameMax bytes, and contains no '/',
/// ',', blanks or unprintable characters.
bool is_snapshot_name(std::string_view name);
std::size_t snapshots_max(std::uint32_t block_bytes);
/// Encodes the table. Overwrites the whole block.
void encode_snapshots(std::span<const SnapshotEntry> snapshots, std::span<std::byte> block);
/// Decodes a table. Fails if the block is not a table, is damaged, or has invalid roots.
Result<std::vector<SnapshotEntry>> decode_snapshots(std::span<const std::byte> block,
                                                    const Superblock& superblock);
/// Updates the checksum of a table that was edited.
void seal_snapshots(std::span<std::byte> block);
/// Reads the snapshot table. Returns an empty list if the superblock has none.
Result<std::vector<SnapshotEntry>> read_snapshots(const model::SectorStore& store,
                                                  const Superblock& superblock);
/// Finds a snapshot by name. If there is no such snapshot, the Error lists the existing ones.
Result<SnapshotEntry> find_snapshot(std::span<const SnapshotEntry> snapshots,
                                    std::string_view name);
/// Converts the entries to the type in fs-adapters/snapshots.h.
std::vector<SnapshotInfo> infos_of(std::span<const SnapshotEntry> snapshots);
/// Returns the superblock of the snapshot's generation, but with the number of free blocks of
/// `newest`.
Superblock superblock_of(const SnapshotEntry& snapshot, const Superblock& newest);

}  // namespace headcrash::snapfs
