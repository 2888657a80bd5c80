// Spawns a new generation and writes the previous one (store.h).
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fs-adapters/snapfs/store.h"

namespace headcrash::snapfs {
namespace {

constexpr int kWriteTries = 3;  // maximum number of attempts to write a block
constexpr os::TimeNs kBusyNs = model::kMillisecondNs;

}  // namespace

/// Writes all changes made before the call.
VfsResult<void> Store::commit_all() {
  const std::uint64_t wanted = newest_with_changes();
  const tree::FiberLockGuard lock(commit_lock_);
  if (stopped_) return refuse(EIO);
  if (committed_ >= wanted) return {};
  return commit_open(Clean::no);
}

/// Clears the clean flag on the disk before metadata is overwritten in place. Called before a
/// mount's first operation, while no lock is held.
VfsResult<void> Store::clear_clean_flag() {
  const tree::FiberLockGuard lock(commit_lock_);
  if (stopped_) return refuse(EIO);
  if (!s_.clean) return {};
  return commit_open(Clean::no);
}

/// Writes data that belongs to no generation, and flushes the device. A commit would also flush the
/// device, but there may be no generation with changes to commit.
VfsResult<void> Store::write_unordered() {
  if (options_.data != DataMode::unordered) return {};
  if (cache.flush_all() != model::Status::ok) return refuse(EIO);
  return flush_device();
}

VfsResult<void> Store::sync() {
  if (read_only_) return {};
  if (in_transaction()) return refuse(EBUSY);
  TRY(write_unordered());
  return commit_all();
}

VfsResult<void> Store::unmount() {
  if (read_only_) return {};
  TRY(write_unordered());
  const tree::FiberLockGuard lock(commit_lock_);
  if (stopped_) return refuse(EIO);
  if (open_->empty() && !log_.changes && s_.clean) return {};
  return commit_open(Clean::yes);
}

void Store::lift_barrier() {
  if (std::exchange(barrier_, false)) operation_ended_.wake_all();
}

/// Opens a new generation, so that no further operation can join the previous one. Waits for the
/// operations of the previous generation to end. Requires the commit lock. The caller must lift the
/// barrier at the end (LiftBarrier).
VfsResult<void> Store::spawn() {
  wait_for_transactions();
  barrier_ = options_.spawn != Spawn::concurrent;
  while (barrier_ && open_->operations != 0) operation_ended_.wait();
  closing_ = std::move(open_);
  open_ = std::make_unique<Generation>(closing_->number + 1);
  closing_is_moved_ = false;
  counters_.most_concurrent =
      std::max<std::uint64_t>(counters_.most_concurrent, closing_->operations);
  if (options_.spawn == Spawn::barrier) lift_barrier();
  while (closing_->operations != 0) operation_ended_.wait();
  if (stopped_) return refuse(EIO);
  return {};
}

VfsResult<void> Store::commit_open(Clean clean) {
  const LiftBarrier lifted{*this};
  TRY(spawn());
  return commit_closing(clean);
}

/// Commits the generation `closing_`, including any changes that are only in the log.
VfsResult<void> Store::commit_closing(Clean clean) {
  if (log_.changes) closing_->continue_after(*std::exchange(log_.changes, nullptr));
  const bool has_changes = !closing_->empty();
  Superblock next = s_;
  next.generation = closing_->number;
  next.clean = clean == Clean::yes;
  next.time = now();
  next.next_generation = next_inode_generation_;
  auto done = move_to_blocks(*closing_, next);
  closing_is_moved_ = true;
  if (options_.reuse == Reuse::at_spawn) release_freed(*closing_);
  if (done) done = write_outstanding(*closing_);
  if (done) done = write_superblock(next);
  if (!done) {
    stop();  // readers still see the generation, but it is never committed
    return done;
  }
  s_ = next;
  committed_ = next.generation;
  log_ = {.free_blocks = s_.free_blocks, .free_inodes = s_.free_inodes};
  if (has_changes) ++counters_.commits;
  note_live(*closing_);
  if (options_.reuse != Reuse::at_spawn) release_freed(*closing_);
  if (snapshot_change_) done = settle_snapshots();
  if (!done) stop();
  closing_.reset();
  operation_ended_.wake_all();
  return done;
}

// Moving to blocks.

VfsResult<void> Store::move_to_blocks(Generation& generation, Superblock& next) {
  next.record_map = record_map_;
  TRY(move_inodes(generation, next));
  TRY(move_inode_bits(generation, next));
  if (snapshot_change_) TRY(own_snapshot_table(generation, next));
  // The block map is written last, because all other structures have allocated their blocks by
  // then.
  TRY(move_block_bits(generation, next));
  if (snapshot_change_) return write_snapshot_table(generation, next);
  return {};
}

/// Returns the leaf's buffer, held. If the leaf must not be changed in place, copies the leaf
/// first.
VfsResult<os::HeldBuffer> Store::own_leaf(Generation& generation, BlockAddress& root,
                                          const TreeShape& shape, std::uint32_t leaf) {
  const Path path = path_to(root, shape, leaf);
  TRY(const auto before, follow(path));
  BlockAddress at = before;
  if (at == 0) {
    const auto fresh = allocate(generation, root);
    if (!fresh) return no_room_kept();
    at = *fresh;
    const os::HeldBuffer buffer = new_at(at, Kind::metadata);
    set_dirty(generation, at, Kind::metadata);
  } else {
    TRY(const auto owned, own(generation, at, Kind::metadata));
    at = owned;
  }
  std::uint32_t made = 0;
  if (at != before)
    if (auto led = lead_to(generation, path, at, made); !led) return forward_errno(led);
  auto buffer = read_at(at, Kind::metadata);
  if (buffer) set_dirty(generation, at, Kind::metadata);
  return buffer;
}

VfsResult<void> Store::move_inodes(Generation& generation, Superblock& next) {
  const std::uint32_t per_leaf = s_.records_per_block();
  for (auto at = generation.inodes.begin(); at != generation.inodes.end();) {
    const std::uint32_t leaf = at->first / per_leaf;
    TRY(const auto buffer, own_leaf(generation, record_map_, record_tree_, leaf));
    std::int64_t moved = 0;
    for (; at != generation.inodes.end() && at->first / per_leaf == leaf; ++at, ++moved) {
      const auto record =
          buffer.bytes().subspan(std::size_t{at->first % per_leaf} * kInodeBytes, kInodeBytes);
      const Inode& inode = at->second;
      if (inode.allocated())
        encode(inode, record);
      else
        std::ranges::fill(record, std::byte{0});
      note_if_unlinked(at->first, inode);
    }
    cpu.charge(os::Cost::inode_changed, moved);
  }
  next.record_map = record_map_;
  next.unlinked = static_cast<std::uint32_t>(unlinked_.size());
  return {};
}

void Store::note_if_unlinked(InodeNumber number, const Inode& inode) {
  if (inode.allocated() && inode.links == 0)
    unlinked_.insert(number);
  else
    unlinked_.erase(number);
}

VfsResult<void> Store::move_inode_bits(Generation& generation, Superblock& next) {
  std::map<InodeNumber, bool> bits;
  for (const InodeNumber number : generation.numbers_freed) bits[number] = false;
  for (const InodeNumber number : generation.numbers_born) bits[number] = true;
  const std::uint32_t per_leaf = s_.bits_per_block();
  for (auto at = bits.begin(); at != bits.end();) {
    const std::uint32_t leaf = at->first / per_leaf;
    TRY(const auto buffer, own_leaf(generation, next.inode_map, inode_tree_, leaf));
    for (; at != bits.end() && at->first / per_leaf == leaf; ++at) {
      const std::uint32_t bit = at->first % per_leaf;
      const std::byte mask = std::byte{1} << (bit % 8);
      std::byte& byte = buffer.bytes()[bit / 8];
      const bool was_set = (byte & mask) != std::byte{0};
      byte = at->second ? byte | mask : byte & ~mask;
      if (was_set != at->second) next.free_inodes += at->second ? -1 : 1;
    }
  }
  return {};
}

/// Updates the block map, after copying the leaves that must change. Each copy allocates a block
/// whose bit may be in a further leaf, so the search for such leaves is repeated until it finds
/// none.
VfsResult<void> Store::move_block_bits(Generation& generation, Superblock& next) {
  const std::uint32_t per_leaf = s_.bits_per_block();
  std::set<std::uint32_t> owned;
  for (bool more = true; more;) {
    std::set<std::uint32_t> needed;
    for (const auto* addresses : {&generation.born, &generation.freed})
      for (const BlockAddress address : *addresses)
        if (!owned.contains(address / per_leaf)) needed.insert(address / per_leaf);
    more = !needed.empty();
    for (const std::uint32_t leaf : needed) {
      const auto buffer = own_leaf(generation, next.block_map, block_tree_, leaf);
      if (!buffer) return forward_errno(buffer);
      owned.insert(leaf);
    }
  }
  std::map<BlockAddress, bool> bits;
  for (const BlockAddress address : generation.freed) bits[address] = false;
  for (const BlockAddress address : generation.born) bits[address] = true;
  for (auto at = bits.begin(); at != bits.end();) {
    const std::uint32_t leaf = at->first / per_leaf;
    TRY(const auto buffer, own_leaf(generation, next.block_map, block_tree_, leaf));
    for (; at != bits.end() && at->first / per_leaf == leaf; ++at) {
      const std::uint32_t bit = at->first % per_leaf;
      const std::byte mask = std::byte{1} << (bit % 8);
      std::byte& byte = buffer.bytes()[bit / 8];
      const bool was_set = (byte & mask) != std::byte{0};
      byte = at->second ? byte | mask : byte & ~mask;
      const bool stays = !at->second && kept_.held(at->first) && !options_.reuses_snapshots;
      if (was_set != at->second && !stays) next.free_blocks += at->second ? -1 : 1;
    }
  }
  return {};
}

// Functions that write to the disk.

VfsResult<void> Store::write_outstanding(Generation& generation) {
  counters_.blocks_written += generation.outstanding.size();
  const std::size_t enough = options_.commits_early ? 1 : 0;
  for (int tries = 0;;) {
    std::vector<BlockAddress> written;
    std::vector<os::RequestId> on_their_way;
    bool failed = false;
    // Works on a copy of the list, because other fibers may add blocks during the writes.
    const std::vector<BlockAddress> all(generation.outstanding.begin(),
                                        generation.outstanding.end());
    for (const BlockAddress address : all) {
      const os::BufferKey key = key_of(address);
      failed = failed || cache.write_failed(key);
      cache.write_behind(key);
      if (const os::RequestId id = cache.being_written(key); id != 0) on_their_way.push_back(id);
      if (!cache.unwritten(key)) written.push_back(address);
    }
    if (failed && ++tries > kWriteTries) return refuse(EIO);
    for (const BlockAddress address : written) generation.outstanding.erase(address);
    if (generation.outstanding.size() <= enough) return {};
    if (on_their_way.size() > enough)
      for (std::size_t i = 0; i + enough < on_their_way.size(); ++i)
        disk_.wait_for(on_their_way[i]);
    // The remaining blocks are held by other fibers, so the commit waits for a short time.
    else if (enough == 0 || on_their_way.empty())
      executor.sleep_until(executor.now() + kBusyNs);
    else
      return {};
    if (stopped_ || executor.halted()) return refuse(EIO);
  }
}

VfsResult<void> Store::flush_device() {
  if (!options_.flushes || disk_.flush() == model::Status::ok) return {};
  return refuse(EIO);
}

VfsResult<void> Store::write_superblock(const Superblock& next) {
  if (!options_.commits_early) TRY(flush_device());
  const std::size_t slot = options_.one_superblock ? slot_ : slot_ + 1;
  TRY(write_to_disk(slot_lba(slot), encode(next)));
  slot_ = slot % kSlotAt.size();
  return flush_device();
}

VfsResult<void> Store::write_to_disk(std::uint64_t lba, std::span<const std::byte> bytes) {
  os::BlockRequest request{model::Op::write, lba,
                           static_cast<std::uint32_t>(bytes.size() / kSectorBytes)};
  request.data = bytes;
  auto status = disk_.transfer(request);
  for (int tries = 1; status != model::Status::ok && tries < kWriteTries && !executor.halted();
       ++tries)
    status = disk_.transfer(request);
  if (status != model::Status::ok) return refuse(EIO);
  return {};
}

void Store::release_freed(Generation& generation) {
  for (const InodeNumber number : generation.numbers_freed)
    if (numbers_.taken(number))
      numbers_.give_back(number);  // this fails only if the map on the disk is damaged
  if (reuses_at_once()) return;
  for (const BlockAddress address : generation.freed)
    if (!kept_.held(address) || options_.reuses_snapshots) give_back(address);
}

void Store::give_back(BlockAddress address) {
  // A block can have two owners only if the disk is damaged.
  if (!space_.taken(address)) return stop();
  cache.discard(key_of(address));
  space_.give_back(address);
}

void Store::note_live(const Generation& generation) {
  for (const BlockAddress address : generation.freed) live_[address] = false;
  for (const BlockAddress address : generation.born) live_[address] = true;
}

}  // namespace headcrash::snapfs
