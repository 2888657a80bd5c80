// Mounts the file system (store.h), without a check: reads the newest superblock, the maps and, if
// there is a log, its records.
#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/snapfs/store.h"

namespace headcrash::snapfs {

namespace {

Result<std::vector<SnapshotEntry>> read_table(os::System& system, const Superblock& s) {
  if (s.snapshot_table == 0) return std::vector<SnapshotEntry>();
  std::vector<std::byte> block(s.block_bytes);
  os::BlockRequest request{model::Op::read, s.lba_of(s.snapshot_table), s.sectors_per_block()};
  request.into = block;
  if (system.queue.transfer(request) != model::Status::ok)
    return fail("snapfs", "cannot read the table of snapshots");
  return decode_snapshots(block, s);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::mount(os::System& system, const MountOptions& options) {
  std::optional<Superblock> newest;
  std::size_t slot_of_newest = 0;
  std::string problem;
  const std::uint64_t sectors = system.queue.sectors();
  if (sectors * kSectorBytes < kReservedBytes) return fail("snapfs", "the device is too small");
  for (std::size_t slot = 0; slot < kSlotAt.size(); ++slot) {
    std::vector<std::byte> bytes(kSuperblockBytes);
    os::BlockRequest request{model::Op::read, slot_lba(slot), kSuperblockBytes / kSectorBytes};
    request.into = bytes;
    if (system.queue.transfer(request) != model::Status::ok) {
      problem = "cannot read a superblock slot";
      continue;
    }
    const auto found = decode_superblock(bytes, sectors);
    if (!found) {
      problem = found.error().problem;
    } else if (!newest || found->generation > newest->generation) {
      newest = *found;
      slot_of_newest = slot;
    }
  }
  if (!newest)
    return fail("snapfs", "no valid superblock: " + problem, "create a file system with mkfs");
  TRY(const auto snapshots, read_table(system, *newest));
  if (!options.snapshot.empty()) {
    TRY(const auto snapshot, find_snapshot(snapshots, options.snapshot));
    newest = superblock_of(snapshot, *newest);
  }
  auto store = std::unique_ptr<Store>(new Store(system, *newest, slot_of_newest, options));
  if (options.snapshot.empty()) store->snapshots_ = snapshots;
  if (auto up = store->start_up(); !up) {
    store->abandon();
    return forward_error(up);
  }
  return store;
}

Result<void> Store::read_map(
    BlockAddress& root, const TreeShape& shape,
    const std::function<void(std::uint64_t first_bit, std::span<const std::byte>)>& see) {
  for (std::uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
    const auto address = follow(path_to(root, shape, leaf));
    if (!address) return fail("snapfs", fmt::format("cannot read leaf {} of a map", leaf));
    if (*address == 0) continue;
    const auto buffer = read_at(*address, Kind::metadata);
    if (!buffer) return fail("snapfs", fmt::format("cannot read leaf {} of a map", leaf));
    see(std::uint64_t{leaf} * s_.bits_per_block(), buffer->bytes());
  }
  return {};
}

Result<void> Store::read_maps() {
  const auto is_set = [](std::span<const std::byte> bytes, std::size_t bit) {
    return (bytes[bit / 8] & (std::byte{1} << (bit % 8))) != std::byte{0};
  };
  auto done = read_map(
      s_.block_map, block_tree_, [&](std::uint64_t first, std::span<const std::byte> bytes) {
        for (std::size_t bit = 0; bit < bytes.size() * 8 && first + bit < s_.blocks; ++bit)
          if (is_set(bytes, bit)) {
            space_.take(static_cast<BlockAddress>(first + bit));
            live_[first + bit] = true;
          }
      });
  if (done) done = hold_snapshots();
  if (!done) return done;
  for (BlockAddress address = 0; address < s_.first_block(); ++address) space_.take(address);
  done = read_map(
      s_.inode_map, inode_tree_, [&](std::uint64_t first, std::span<const std::byte> bytes) {
        for (std::size_t bit = 0; bit < bytes.size() * 8 && first + bit < s_.inodes; ++bit) {
          if (is_set(bytes, bit)) numbers_.take(static_cast<InodeNumber>(first + bit));
        }
      });
  if (!done) return done;
  // A snapshot does not record its number of free blocks, so the number is not compared for a
  // snapshot.
  if (read_only_) s_.free_blocks = space_.free();
  if (space_.free() != s_.free_blocks || numbers_.free() != s_.free_inodes)
    return fail("snapfs", "the free counts of the maps and of the superblock differ",
                "run fsck; a power cut does not cause this damage");
  for (const BlockAddress root : {s_.record_map, s_.inode_map, s_.block_map})
    if (!space_.taken(root))
      return fail("snapfs", "a block of a map is marked free",
                  "run fsck; the file system is damaged");
  return {};
}

/// Removes files that had no name but were open when the power was cut.
Result<void> Store::remove_unlinked() {
  if (s_.unlinked == 0 && !log_.changes) return {};
  for (InodeNumber number = kRootInode; number < s_.inodes; ++number) {
    if (!numbers_.taken(number)) continue;
    const auto inode = get_core(number, nullptr);
    if (!inode)
      return fail("snapfs", fmt::format("cannot read inode {}", number),
                  "run fsck; the file system is damaged");
    // When the last handle is destroyed, the inode is removed.
    if ((*inode)->disk.allocated() && (*inode)->disk.links == 0) unlinked_.insert(number);
  }
  if (stopped_)
    return fail("snapfs", "cannot remove a file without a name",
                "run fsck; the file system is damaged");
  return {};
}

Result<void> Store::start_up() {
  TRY(read_maps());
  if (!read_only_) TRY(replay_log());
  {
    const auto root = get_core(kRootInode, nullptr);
    if (!root || !(*root)->disk.is_directory() || (*root)->disk.links == 0)
      return fail("snapfs", "there is no root directory", "run fsck; the file system is damaged");
  }
  if (!read_only_) TRY(remove_unlinked());
  return {};
}

}  // namespace headcrash::snapfs
