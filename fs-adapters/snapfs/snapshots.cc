// Kept snapshots (store.h, snapshot_table.h).
//
// A commit creates and removes snapshots. The generation that is being written allocates a block
// for the new snapshot table, which contains the roots of all kept snapshots. A new snapshot has
// the roots of this generation. Operations that begin after the next generation has been spawned
// belong to a newer generation. If they overwrite data of this generation, the data is therefore
// copied first.
#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/snapfs/store.h"

namespace headcrash::snapfs {

VfsResult<void> Store::change_snapshots(SnapshotChange change) {
  if (read_only_) return refuse(EROFS);
  if (!options_.copy_on_write || options_.data == DataMode::unordered) return refuse(ENOTSUP);
  if (!is_snapshot_name(change.name)) return refuse(EINVAL);
  if (in_transaction()) return refuse(EBUSY);
  const tree::FiberLockGuard lock(commit_lock_);
  if (stopped_) return refuse(EIO);
  const bool there =
      std::ranges::find(snapshots_, change.name, &SnapshotEntry::name) != snapshots_.end();
  if (change.drops && !there) return refuse(ENOENT);
  if (!change.drops) {
    if (there) return refuse(EEXIST);
    if (snapshots_.size() >= snapshots_max(s_.block_bytes)) return refuse(ENOSPC);
    // As long as the snapshot exists, each block that is changed needs additional space. The blocks
    // of the maps are changed first.
    if (!has_room(2 * blocks_of_maps() + kOperationBlocks)) return refuse(ENOSPC);
  }
  copies_all_data_ = !change.drops;
  const LiftBarrier lifted{*this};
  auto done = spawn();
  snapshot_change_ = std::move(change);
  if (done) done = commit_closing(Clean::no);
  snapshot_change_.reset();
  copies_all_data_ = false;
  return done;
}

VfsResult<void> Store::make_snapshot(std::string_view name) {
  return change_snapshots({.name = std::string(name)});
}

VfsResult<void> Store::drop_snapshot(std::string_view name) {
  return change_snapshots({.name = std::string(name), .drops = true});
}

/// Allocates a block for the new table. Must be called before the bits of the block map are
/// updated.
VfsResult<void> Store::own_snapshot_table(Generation& generation, Superblock& next) {
  if (next.snapshot_table != 0) {
    TRY(const auto owned, own(generation, next.snapshot_table, Kind::metadata));
    next.snapshot_table = owned;
    return {};
  }
  const auto fresh = allocate(generation, next.block_map);
  if (!fresh) return no_room_kept();
  const os::HeldBuffer buffer = new_at(*fresh, Kind::metadata);
  set_dirty(generation, *fresh, Kind::metadata);
  next.snapshot_table = *fresh;
  return {};
}

/// Writes the new table. Must be called when all roots are known.
VfsResult<void> Store::write_snapshot_table(Generation& generation, Superblock& next) {
  const SnapshotChange& change = *snapshot_change_;
  snapshots_to_be_ = snapshots_;
  if (change.drops) {
    const auto gone = std::ranges::find(snapshots_to_be_, change.name, &SnapshotEntry::name);
    TRY(const auto blocks, blocks_in_map(gone->block_map));
    for (const BlockAddress address : blocks)
      if (kept_.holders(address) == 1 && (!live_[address] || generation.freed.contains(address)))
        ++next.free_blocks;
    snapshots_to_be_.erase(gone);
  } else {
    snapshots_to_be_.push_back({.name = change.name,
                                .generation = next.generation,
                                .time = next.time,
                                .record_map = next.record_map,
                                .inode_map = next.inode_map,
                                .block_map = next.block_map,
                                .table = next.snapshot_table,
                                .free_inodes = next.free_inodes,
                                .unlinked = next.unlinked,
                                .next_generation = next.next_generation});
  }
  TRY(const auto buffer, read_at(next.snapshot_table, Kind::metadata));
  encode_snapshots(snapshots_to_be_, buffer.bytes());
  set_dirty(generation, next.snapshot_table, Kind::metadata);
  return {};
}

/// Creates or drops the snapshot in memory. Called when the generation's superblock is on the disk.
VfsResult<void> Store::settle_snapshots() {
  const SnapshotChange& change = *snapshot_change_;
  const auto& with_it = change.drops ? snapshots_ : snapshots_to_be_;
  TRY(const auto blocks,
      blocks_in_map(std::ranges::find(with_it, change.name, &SnapshotEntry::name)->block_map));
  for (const BlockAddress address : blocks) {
    if (!change.drops) {
      kept_.hold(address);
      continue;
    }
    kept_.release(address);
    if (!kept_.held(address) && !live_[address] && !options_.reuses_snapshots) give_back(address);
  }
  snapshots_ = std::move(snapshots_to_be_);
  return {};
}

/// Returns the blocks that a snapshot's map marks as used, except the reserved blocks at the start
/// of the device.
VfsResult<std::vector<BlockAddress>> Store::blocks_in_map(BlockAddress root) {
  std::vector<BlockAddress> blocks;
  const auto done =
      read_map(root, block_tree_, [&](std::uint64_t first, std::span<const std::byte> bytes) {
        for (std::size_t bit = 0; bit < bytes.size() * 8 && first + bit < s_.blocks; ++bit)
          if ((bytes[bit / 8] & (std::byte{1} << (bit % 8))) != std::byte{0} &&
              s_.holds(first + bit))
            blocks.push_back(static_cast<BlockAddress>(first + bit));
      });
  if (!done) return refuse(EIO);
  return blocks;
}

// Mounting.

Result<void> Store::hold_snapshots() {
  for (const SnapshotEntry& snapshot : snapshots_) {
    const auto blocks = blocks_in_map(snapshot.block_map);
    if (!blocks)
      return fail("snapfs", fmt::format("the map of snapshot {} cannot be read", snapshot.name));
    for (const BlockAddress address : *blocks) {
      kept_.hold(address);
      space_.take(address);
    }
  }
  return {};
}

}  // namespace headcrash::snapfs
