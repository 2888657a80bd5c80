// Soft updates (soft_updates.h): records the changes that operations make, and does the deferred
// work.

#include "fs-adapters/ufs/schemes/soft_updates.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/invariant.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr int kSettleRoundsMax =
    100;  // maximum number of rounds in an fsync; each writes one level of dependencies
// If dependencies remain after this many rounds, another fiber must be working on one of the
// blocks, so the fsync pauses between rounds.
constexpr int kSettleRoundsAtOnce = 8;
constexpr os::TimeNs kSettlePauseNs = 10 * model::kMillisecondNs;
constexpr std::uint32_t kDotDotOffset = 12;  // offset of ".." in a directory's first block

}  // namespace

void SoftUpdates::count_dependency() {
  ++counters_.dependencies;
  volume_.cpu.charge(os::Cost::dependency);
}

/// Does a sync if too many dependencies are pending. This limit on dependencies also limits the
/// number of work items: only completed writes queue work items, at most one for each dependency.
void SoftUpdates::bound_work() {
  // An error can be ignored here, because fsync and sync fail as long as a block that they cover
  // has not been written.
  if (waiting() >= options_.dependencies_max) (void)sync();
}

void SoftUpdates::work(std::function<void()> item) {
  ++counters_.work_items;
  volume_.syncer.add_work(std::move(item));
}

// --- block allocation

void SoftUpdates::allocate_direct(const BlockAllocation& allocation) {
  InodeDependencies& dependencies = inodes_[allocation.inode.number];
  AllocDirect made{.slot = allocation.slot,
                   .block = allocation.block,
                   .at = allocation.at,
                   .old_at = allocation.old_at,
                   .fragments = allocation.fragments,
                   .old_fragments = allocation.old_fragments,
                   .old_size_bytes = allocation.old_size_bytes};
  // If the fragments grow again before the first growth is on the disk, undoing restores the state
  // before the first growth.
  const auto older = std::find_if(dependencies.allocations.begin(), dependencies.allocations.end(),
                                  [&](const AllocDirect& one) { return one.slot == made.slot; });
  if (older != dependencies.allocations.end()) {
    made.old_at = older->old_at;
    made.old_fragments = older->old_fragments;
    made.old_size_bytes = older->old_size_bytes;
    made.ever_staged = older->ever_staged;
    made.frees = std::move(older->frees);
    *older = std::move(made);
  } else {
    dependencies.allocations.push_back(std::move(made));
  }
}

void SoftUpdates::allocate_indirect(const BlockAllocation& allocation) {
  BlockDependencies& dependencies = blocks_[allocation.holder->key()];
  if (!dependencies.indirect) {
    const auto bytes = allocation.holder->bytes();
    dependencies.indirect = std::make_unique<IndirectDependencies>();
    dependencies.indirect->safe.assign(bytes.begin(), bytes.end());
  }
  dependencies.indirect->allocations.push_back({.slot = allocation.slot, .at = allocation.at});
}

VfsResult<os::HeldBuffer> SoftUpdates::block_allocated(Operation&,
                                                       const BlockAllocation& allocation,
                                                       os::HeldBuffer block) {
  const bool data = allocation.kind == BlockKind::data;
  if (data && !options_.allocation_initialization && !allocation.moved()) {
    // No dependency waits for this data. If an earlier growth has moved the fragments, the
    // dependency of that growth may still be pending. That dependency remains attached to this
    // block, and the next write of the block resolves it.
    return block;
  }
  count_dependency();
  // Wait, so that a write to the old place is not mistaken for a write to the new place.
  if (allocation.moved()) volume_.disk.wait_for(block.being_written());
  blocks_[block.key()].allocation =
      AllocSafe{.inode = allocation.inode.number,
                .holder = allocation.holder == nullptr
                              ? 0
                              : static_cast<FragmentAddress>(allocation.holder->key().block),
                .slot = allocation.slot};
  if (allocation.holder == nullptr)
    allocate_direct(allocation);
  else
    allocate_indirect(allocation);
  return volume_.write_delayed_and_hold(std::move(block));
}

VfsResult<void> SoftUpdates::directory_grown(Operation&, CoreInode& directory,
                                             std::uint64_t old_size_bytes) {
  const Geometry& geometry = volume_.geometry;
  const std::uint64_t last = geometry.blocks_of_size(directory.disk.size_bytes) - 1;
  GrownSize grown{.block = static_cast<std::int64_t>(last), .old_size_bytes = old_size_bytes};
  for (const os::BufferKey& holder : unwritten_indirect_blocks(volume_, directory)) {
    // Only a later write satisfies the dependency, because changes may have been undone in the
    // writes that are in flight.
    if (volume_.cache.mark_dirty(holder)) {
      blocks_[holder].sizes.push_back({.inode = directory.number, .block = grown.block});
      grown.waits_for.push_back(holder);
    } else {
      // The buffer was evicted and its copy is still in flight, so wait for that write.
      volume_.disk.wait_for(volume_.cache.being_written(holder));
    }
  }
  if (!grown.waits_for.empty()) {
    count_dependency();
    inodes_[directory.number].sizes.push_back(std::move(grown));
  }
  return volume_.inodes.write_delayed(directory);
}

// --- block de-allocation

/// Cancels dependencies that wait for writes of these blocks. These dependencies belong to pointers
/// in the inode or in indirect blocks.
void SoftUpdates::cancel_blocks(InodeNumber inode, std::int64_t first, std::int64_t end) {
  auto at = blocks_.lower_bound(Volume::block_of(inode, first));
  while (at != blocks_.end() && at->first.object == inode && at->first.block < end) {
    at->second.allocation.reset();
    at = at->second.empty() ? blocks_.erase(at) : std::next(at);
  }
}

void SoftUpdates::cancel_allocations(const CoreInode& inode, std::int64_t first, std::int64_t end,
                                     std::vector<Extent>& frees) {
  cancel_blocks(inode.number, first, end);
  const auto dependencies = inodes_.find(inode.number);
  if (dependencies == inodes_.end()) return;
  std::erase_if(dependencies->second.allocations, [&](AllocDirect& one) {
    if (one.block < first || one.block >= end) return false;
    // An indirect block is recorded under the number of the first file block below it. That file
    // block may be released while the inode still needs the indirect block for other file blocks.
    if (one.slot >= kDirectPointers && inode.disk.indirect[one.slot - kDirectPointers] != 0)
      return false;
    frees.insert(frees.end(), one.frees.begin(), one.frees.end());
    return true;
  });
  // Undoing an allocation restores the file's old size. The file has been truncated, so limit the
  // old size: it must not include the freed blocks.
  for (AllocDirect& one : dependencies->second.allocations)
    one.old_size_bytes = std::min(one.old_size_bytes, inode.disk.size_bytes);
  std::erase_if(dependencies->second.sizes,
                [&](const GrownSize& one) { return one.block >= first && one.block < end; });
}

/// Handles indirect blocks that are released. Drops the changes that would have to be undone in
/// these blocks. Dependencies on writes of a released block become dependencies on the write of the
/// block or inode that contained the pointer to the released block.
void SoftUpdates::cancel_indirect(std::vector<Extent>& extents) {
  const std::size_t count = extents.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = blocks_.find(Volume::place(extents[i].at));
    if (found == blocks_.end()) continue;
    BlockDependencies& dependencies = found->second;
    dependencies.indirect.reset();
    dependencies.allocation.reset();
    dependencies.sizes.clear();
    for (const FreeBlocks& freed : dependencies.frees)
      extents.insert(extents.end(), freed.extents.begin(), freed.extents.end());
    dependencies.frees.clear();
    if (dependencies.empty()) blocks_.erase(found);
  }
}

VfsResult<void> SoftUpdates::blocks_removed(Operation&, const BlockRemoval& removal,
                                            os::HeldBuffer holder) {
  count_dependency();
  const InodeNumber number = removal.inode.number;
  if (removal.moved) {
    InodeDependencies& dependencies = inodes_[number];
    for (AllocDirect& one : dependencies.allocations)
      if (one.block == removal.first_block) {
        one.frees.insert(one.frees.end(), removal.extents.begin(), removal.extents.end());
        return volume_.inodes.write_delayed(removal.inode);
      }
  }
  FreeBlocks freed{.extents = removal.extents};
  cancel_indirect(freed.extents);
  if (holder) {
    cancel_blocks(number, removal.first_block, removal.end_block);
    BlockDependencies& dependencies = blocks_[holder.key()];
    if (dependencies.indirect) {
      IndirectDependencies& indirect = *dependencies.indirect;
      const auto gone = [&](std::uint32_t slot) {
        return load32(holder.bytes(), std::size_t{slot} * 4) == 0;
      };
      std::erase_if(indirect.allocations, [&](const AllocIndirect& one) { return gone(one.slot); });
      for (std::uint32_t slot = 0; slot < volume_.geometry.pointers_per_block(); ++slot)
        if (gone(slot)) store32(indirect.safe, std::size_t{slot} * 4, 0);
    }
    dependencies.frees.push_back(std::move(freed));
    volume_.cache.write_delayed(std::move(holder));
    return {};
  }
  // Hold the inode's block until the end of this function, so that no write can start between the
  // change to its bytes and the update of the records that undo the change.
  auto block = volume_.inodes.copy_to_block(removal.inode);
  if (!removal.moved)
    cancel_allocations(removal.inode, removal.first_block, removal.end_block, freed.extents);
  freed.staged = block.has_value();
  inodes_[number].frees.push_back(std::move(freed));
  if (!block) return forward_errno(block);
  volume_.cache.write_delayed(std::move(*block));
  return {};
}

// --- links

std::shared_ptr<SoftUpdates::Removal> SoftUpdates::defer_link_drop(const DroppedLink& dropped) {
  ++deferred_;
  auto removal = std::make_shared<Removal>();
  removal->inode = volume_.inodes.share(*dropped.inode, nullptr);
  removal->links = dropped.links;
  dropped.inode->deferred_removals += dropped.links;
  if (dropped.parent != nullptr) {
    removal->parent = volume_.inodes.share(*dropped.parent, nullptr);
    ++dropped.parent->deferred_removals;
  }
  return removal;
}

/// Drops a deferred link. Called from a work item. Takes only one lock at a time, because a moved
/// inode may by now be an ancestor of its old parent.
void SoftUpdates::drop(const std::shared_ptr<Removal>& removal) {
  Operation operation;
  begin(operation);
  invariant(deferred_ > 0 && removal->inode,
            "soft updates: a deferred link must be dropped only once");
  --deferred_;
  const auto lower = [&](CoreInode& inode, std::uint16_t links) {
    const InodeLock lock(inode);
    invariant(inode.deferred_removals >= links, "soft updates: only deferred links may be dropped");
    inode.deferred_removals -= links;
    volume_.lower_links(inode, links);
  };
  if (removal->parent) lower(*removal->parent, 1);
  lower(*removal->inode, removal->links);
  removal->inode.reset();  // if this is the last handle, resetting it removes the inode
  removal->parent.reset();
  (void)end(operation);
}

SoftUpdates::Add* SoftUpdates::add_at(const os::BufferKey& block, std::uint32_t offset) {
  const auto dependencies = blocks_.find(block);
  if (dependencies == blocks_.end()) return nullptr;
  for (const AddId id : dependencies->second.adds) {
    Add& add = adds_.at(id);
    if (add.offset == offset && !add.entry_gone) return &add;
  }
  return nullptr;
}

void SoftUpdates::forget_add(AddId id) {
  const auto found = adds_.find(id);
  invariant(found != adds_.end(), "soft updates: an added entry must be forgotten only once");
  const auto leading = adds_of_.find(found->second.inode);
  invariant(leading != adds_of_.end() && leading->second > 0,
            "soft updates: an inode must count each of its added entries");
  if (--leading->second == 0) adds_of_.erase(leading);
  const std::size_t noted = std::erase(blocks_[found->second.block].adds, id);
  invariant(noted == 1, "soft updates: a block must list each of its added entries");
  adds_.erase(found);
}

VfsResult<void> SoftUpdates::link_added(Operation& operation, const LinkAddition& addition,
                                        os::HeldBuffer directory_block) {
  count_dependency();
  const os::BufferKey key = directory_block.key();
  for (const tree::MovedEntry& moved : addition.moved)
    if (Add* other = add_at(key, moved.from)) other->offset = moved.to;

  const AddId id = ++last_add_;
  Add add{.block = key, .offset = addition.offset, .inode = addition.target.number};
  const bool replaces = addition.replaced.inode != nullptr;
  bool replaced_at_once = false;
  if (replaces) {
    add.previous = addition.replaced.inode->number;
    add.previous_type = entry_type(addition.replaced.inode->attributes.mode);
    Add* older = add_at(key, addition.offset);
    if (older != nullptr && !older->sent) {
      // The entry's present contents have never been on the disk, so undoing must restore the inode
      // number that preceded these contents.
      add.previous = older->previous;
      add.previous_type = older->previous_type;
      add.replaced = std::move(older->replaced);
      const auto same = [&](const auto& one) { return &one.second == older; };
      forget_add(std::find_if(adds_.begin(), adds_.end(), same)->first);
      replaced_at_once = true;
    } else {
      if (older != nullptr) older->entry_gone = true;
      if (addition.replaced.links > 0) add.replaced.push_back(defer_link_drop(addition.replaced));
    }
  }
  const bool makes_directory = addition.raises_directory;
  add.waits_for = makes_directory ? 2 : 1;
  const bool whole = makes_directory || addition.target.attributes.is_symlink();
  inodes_[addition.target.number].adds.push_back({.add = id, .whole = whole});
  if (makes_directory) inodes_[addition.directory.number].adds.push_back({.add = id});
  ++adds_of_[add.inode];
  adds_.emplace(id, std::move(add));
  blocks_[key].adds.push_back(id);
  volume_.cache.write_delayed(std::move(directory_block));
  TRY(volume_.inodes.write_delayed(addition.target));
  if (makes_directory) TRY(volume_.inodes.write_delayed(addition.directory));
  return replaced_at_once ? volume_.drop_link(operation, addition.replaced) : VfsResult<void>();
}

VfsResult<void> SoftUpdates::link_removed(Operation& operation, const LinkRemoval& removal,
                                          os::HeldBuffer directory_block) {
  const os::BufferKey key = directory_block.key();
  Add* add = add_at(key, removal.offset);
  bool at_once = false;
  if (add != nullptr && !add->sent) {
    // The entry was added and removed without being written. If it replaced an entry that is on the
    // disk, the links of the replaced entry are dropped when the block is written.
    ++counters_.cancelled_adds;
    for (auto& replaced : add->replaced)
      blocks_[key].removes.push_back({.removal = std::move(replaced)});
    const auto same = [&](const auto& one) { return &one.second == add; };
    forget_add(std::find_if(adds_.begin(), adds_.end(), same)->first);
    at_once = true;
  } else {
    if (add != nullptr) add->entry_gone = true;
    count_dependency();
    blocks_[key].removes.push_back({.removal = defer_link_drop(removal.dropped)});
  }
  VfsResult<void> written;
  if (removal.dropped.moved && removal.dropped.inode->attributes.is_directory())
    written = as_result(volume_.cache.write(std::move(directory_block)));
  else
    volume_.cache.write_delayed(std::move(directory_block));
  const auto dropped = at_once ? volume_.drop_link(operation, removal.dropped) : VfsResult<void>();
  return written ? dropped : written;
}

/// Called when a directory is removed. The directory's unwritten blocks will never be written, so
/// dependencies on these writes become dependencies on the write of the inode.
void SoftUpdates::forget_directory_blocks(InodeNumber inode, FreeFile& file) {
  for (auto at = first_block_of(inode); at != blocks_.end() && at->first.object == inode;) {
    BlockDependencies& dependencies = at->second;
    for (Remove& remove : dependencies.removes) file.removals.push_back(std::move(remove.removal));
    dependencies.removes.clear();
    while (!dependencies.adds.empty()) {
      const AddId id = dependencies.adds.back();
      for (auto& replaced : adds_.at(id).replaced) file.removals.push_back(std::move(replaced));
      forget_add(id);
    }
    dependencies.allocation.reset();
    at = dependencies.empty() ? blocks_.erase(at) : std::next(at);
  }
}

VfsResult<void> SoftUpdates::inode_removed(Operation&, const InodeRemoval& removal) {
  count_dependency();
  const InodeNumber number = removal.inode.number;
  // Hold the inode's block until the end of this function, for the same reason as in
  // blocks_removed().
  auto block = volume_.inodes.copy_to_block(removal.inode);
  FreeFile file{.number = number,
                .directory = removal.directory,
                .extents = removal.extents,
                .staged = block.has_value()};
  cancel_indirect(file.extents);
  cancel_allocations(removal.inode, 0, std::numeric_limits<std::int64_t>::max(), file.extents);
  forget_directory_blocks(number, file);
  InodeDependencies& dependencies = inodes_[number];
  dependencies.adds.clear();
  if (block && never_written_.erase(number) != 0) {
    // On the disk, this inode has never had a name or a pointer, so it can be freed at once.
    for (const FreeBlocks& freed : dependencies.frees)
      file.extents.insert(file.extents.end(), freed.extents.begin(), freed.extents.end());
    inodes_.erase(number);
    volume_.cache.write_delayed(std::move(*block));
    TRY(volume_.free_extents(file.extents));
    for (const auto& one : file.removals) work([this, one] { drop(one); });
    return volume_.free_inode(number, removal.directory);
  }
  dependencies.free_file = std::move(file);
  if (!block) return forward_errno(block);
  volume_.cache.write_delayed(std::move(*block));
  return {};
}

void SoftUpdates::inode_allocated(InodeNumber number) {
  never_written_.insert(number);
}

void SoftUpdates::inode_copied(CoreInode& inode, os::HeldBuffer&) {
  const auto found = inodes_.find(inode.number);
  if (found == inodes_.end()) return;
  InodeDependencies& dependencies = found->second;
  for (AllocDirect& one : dependencies.allocations) one.staged = one.ever_staged = true;
  for (GrownSize& one : dependencies.sizes) one.staged = one.ever_staged = true;
  for (AddSafe& one : dependencies.adds) one.staged = true;
  for (FreeBlocks& one : dependencies.frees) one.staged = true;
  if (dependencies.free_file) dependencies.free_file->staged = true;
}

// --- fsync, space

std::map<os::BufferKey, SoftUpdates::BlockDependencies>::iterator SoftUpdates::first_block_of(
    InodeNumber inode) {
  return blocks_.lower_bound({.object = inode, .block = std::numeric_limits<std::int64_t>::min()});
}

/// Returns true if writes are pending for the inode, for its names or, if it is a directory, for
/// its entries.
bool SoftUpdates::has_pending_dependencies(InodeNumber inode) {
  if (adds_of_.contains(inode)) return true;
  for (auto at = first_block_of(inode); at != blocks_.end() && at->first.object == inode; ++at)
    if (!at->second.adds.empty() || !at->second.removes.empty()) return true;
  const auto found = inodes_.find(inode);
  return found != inodes_.end() && (!found->second.allocations.empty() ||
                                    !found->second.sizes.empty() || !found->second.adds.empty());
}

/// Writes the inodes that a directory's entries are waiting for.
VfsResult<void> SoftUpdates::write_targets(InodeNumber directory) {
  std::vector<InodeNumber> targets;
  for (auto at = first_block_of(directory); at != blocks_.end() && at->first.object == directory;
       ++at)
    for (const AddId id : at->second.adds) targets.push_back(adds_.at(id).inode);
  for (const InodeNumber target : targets) {
    const auto dependencies = inodes_.find(target);
    const bool whole =
        dependencies != inodes_.end() &&
        std::any_of(dependencies->second.adds.begin(), dependencies->second.adds.end(),
                    [](const AddSafe& one) { return one.whole; });
    if (whole) TRY(as_result(volume_.cache.flush_object(target)));
    TRY(volume_.write_if_dirty(volume_.inodes.block_key(target)));
  }
  return {};
}

/// Writes the block of the inode, and then each directory block that contains a pending entry for
/// the inode. Before each directory block, writes the block of the directory's inode.
VfsResult<void> SoftUpdates::write_adds_of(InodeNumber inode) {
  std::vector<os::BufferKey> named_in;
  for (const auto& [id, add] : adds_)
    if (add.inode == inode) named_in.push_back(add.block);
  std::sort(named_in.begin(), named_in.end());
  auto written = volume_.write_if_dirty(volume_.inodes.block_key(inode));
  for (const os::BufferKey& block : named_in) {
    const auto directory = static_cast<InodeNumber>(block.object);
    // A new directory stays hidden on the disk until its first block has been written with all its
    // entries.
    if (written && never_written_.contains(directory))
      written = as_result(volume_.cache.flush_object(directory));
    if (written) written = volume_.write_if_dirty(volume_.inodes.block_key(directory));
    if (written) written = volume_.write_if_dirty(block);
  }
  return written;
}

/// Returns false if any of the following was undone in the bytes that were written: the entry, the
/// directory's pointer to the entry's block, or the directory's size.
bool SoftUpdates::shows(InodeNumber inode, const PendingName& name) const {
  if (adds_of_.contains(inode)) return false;
  const auto dependencies = inodes_.find(name.directory);
  if (dependencies == inodes_.end()) return true;
  const auto in_the_way = [&](const auto& one) { return one.block <= name.block; };
  return std::none_of(dependencies->second.allocations.begin(),
                      dependencies->second.allocations.end(), in_the_way) &&
         std::none_of(dependencies->second.sizes.begin(), dependencies->second.sizes.end(),
                      in_the_way);
}

/// Writes the new blocks of the directories on the path to the inode. Until these blocks are
/// written, the directories on the disk do not contain them. Called after round number `round` of a
/// loop that writes the inode's dependencies. From round kSettleRoundsAtOnce on, pauses before
/// writing.
VfsResult<void> SoftUpdates::write_path_to(InodeNumber inode, int round) {
  if (round >= kSettleRoundsAtOnce)
    volume_.executor.sleep_until(volume_.executor.now() + kSettlePauseNs);
  for (const InodeNumber one : volume_.names.inodes_to_sync(inode)) {
    const auto dependencies = inodes_.find(one);
    if (one == inode || dependencies == inodes_.end()) continue;
    const InodeDependencies& undone = dependencies->second;
    if (undone.allocations.empty() && undone.sizes.empty()) continue;
    std::vector<os::BufferKey> indirect;
    for (const AllocDirect& allocation : undone.allocations)
      if (allocation.slot >= kDirectPointers) indirect.push_back(Volume::place(allocation.at));
    for (const GrownSize& size : undone.sizes)
      indirect.insert(indirect.end(), size.waits_for.begin(), size.waits_for.end());
    TRY(as_result(volume_.cache.flush_object(one)));
    for (const os::BufferKey& holder : indirect) TRY(volume_.write_if_dirty(holder));
    TRY(volume_.write_if_dirty(volume_.inodes.block_key(one)));
  }
  return {};
}

VfsResult<void> SoftUpdates::fsync(Operation& operation, CoreInode& inode, SyncExtent) {
  const std::uint64_t noted = volume_.names.noted();
  for (int round = 0; round < kSettleRoundsMax; ++round) {
    if (inode.disk.is_directory()) TRY(write_targets(inode.number));
    TRY(write_with_names(operation, inode));
    TRY(write_adds_of(inode.number));
    TRY(const auto arrived, names_arrived(operation, inode.number, noted));
    // An indirect block that another user has written may still be in flight with undone changes.
    // The block becomes dirty again only when that write completes.
    if (arrived && !has_pending_dependencies(inode.number) &&
        unwritten_indirect_blocks(volume_, inode).empty())
      return {};
    TRY(write_path_to(inode.number, round));
  }
  return refuse(EIO);
}

/// Writes the new name of an inode. For a directory, also writes its "..": while the directory has
/// two names, fsck keeps the name that is in the directory to which the ".." refers.
VfsResult<void> SoftUpdates::settle_name(Operation&, CoreInode& inode) {
  const os::BufferKey first_block = Volume::block_of(inode.number, 0);
  const auto named = [&] {
    const std::vector<PendingName> names = volume_.names.of(inode.number);
    return !adds_of_.contains(inode.number) &&
           std::all_of(names.begin(), names.end(),
                       [&](const PendingName& name) { return shows(inode.number, name); });
  };
  const auto dot_dot = [&] {
    return inode.disk.is_directory() ? add_at(first_block, kDotDotOffset) : nullptr;
  };
  const auto settled = [&] { return named() && dot_dot() == nullptr; };
  for (int round = 0; round < kSettleRoundsMax && !settled(); ++round) {
    // Before the "..", write the link count of the directory to which the ".." refers.
    if (const Add* parent = dot_dot(); parent != nullptr)
      TRY(volume_.write_if_dirty(volume_.inodes.block_key(parent->inode)));
    // The first block of a directory must be written before the name of the directory.
    TRY(as_result(volume_.cache.flush_object(inode.number)));
    if (named()) continue;
    TRY(write_adds_of(inode.number));
    TRY(write_path_to(inode.number, round));
  }
  return settled() ? VfsResult<void>() : refuse(EIO);
}

bool SoftUpdates::reclaim() {
  const bool something = volume_.syncer.work_waiting() > 0 || !inodes_.empty() || !blocks_.empty();
  return something && sync().has_value();
}

/// Returns the memory for the records of allocations, entries, inodes and deferred links, and for
/// the safe copies of indirect blocks.
std::size_t SoftUpdates::bytes_in_core() const {
  std::size_t copies = 0;
  for (const auto& [key, dependencies] : blocks_)
    if (dependencies.indirect) copies += dependencies.indirect->safe.size();
  return (waiting() + blocks_.size()) * kDependencyBytes + copies;
}

}  // namespace headcrash::ufs
