// Issues writes with chains (scheduler_chains.h).

#include "fs-adapters/ufs/schemes/scheduler_chains.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "plugin/base/invariant.h"

namespace headcrash::ufs {

void SchedulerChains::After::add(const os::DiskQueue& disk, os::RequestId id) {
  if (id == 0 || !disk.pending(id) || (!ids_.empty() && ids_.back() == id)) return;
  if (ids_.size() >= prune_at_) {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    std::erase_if(ids_, [&](os::RequestId one) { return !disk.pending(one); });
    prune_at_ = std::max<std::size_t>(32, ids_.size() * 2);
  }
  ids_.push_back(id);
}

void SchedulerChains::After::add(const os::DiskQueue& disk, const After& others) {
  for (const os::RequestId id : others.ids_) add(disk, id);
}

SchedulerChains::SchedulerChains(Volume& volume, const SchemeOptions& options)
    : DriverOrder(volume, options), zeroes_(volume) {}

/// Checks that a write was issued, and returns its id, which later requests will name.
os::RequestId SchedulerChains::sent(os::RequestId id) const {
  invariant(id != 0 || volume_.stopped(),
            "chains: a write must be issued before later writes depend on it");
  return id;
}

VfsResult<os::RequestId> SchedulerChains::send_inode(tree::CoreInode& inode, bool barrier) {
  TRY(auto buffer, volume_.inodes.copy_to_block(inode));
  const os::BufferKey key = buffer.key();
  const os::RequestId id = sent(volume_.cache.write_async(std::move(buffer), {.barrier = barrier}));
  invariant(id == 0 || (!blocks_.contains(key) && !inodes_.contains(inode.number)),
            "chains: an inode's dependencies must be attached to its write");
  return id;
}

bool SchedulerChains::before_write(os::Outgoing& write) {
  if (!Scheme::before_write(write)) return false;
  const auto noted = blocks_.find(write.key);
  if (noted == blocks_.end()) return true;
  sent_after_.assign(write.ordering.after.begin(), write.ordering.after.end());
  for (const os::RequestId id : noted->second.ids())
    if (volume_.disk.pending(id)) sent_after_.push_back(id);
  blocks_.erase(noted);
  write.ordering.after = sent_after_;
  return true;
}

void SchedulerChains::inode_copied(CoreInode& inode, os::HeldBuffer& block) {
  const auto noted = inodes_.find(inode.number);
  if (noted == inodes_.end()) return;
  blocks_[block.key()].add(volume_.disk, noted->second);
  inodes_.erase(noted);
}

void SchedulerChains::inode_allocated(InodeNumber number) {
  const auto freed = freed_inodes_.find(number);
  if (freed == freed_inodes_.end()) return;
  inodes_[number].add(volume_.disk, freed->second);
  freed_inodes_.erase(freed);
}

void SchedulerChains::freed(const std::vector<Extent>& extents, os::RequestId by) {
  forget_complete();
  if (!tracked()) return;
  for (const Extent& extent : extents)
    for (std::uint32_t i = 0; i < extent.fragments; ++i) {
      os::RequestId& newest = freed_fragments_[extent.at + i];
      // Equal ids mean that two pointers in a damaged file refer to the same extent; free_extents()
      // then fails.
      invariant(newest <= by || by == 0, "chains: only a later write may free a block again");
      newest = by;
    }
}

SchedulerChains::After SchedulerChains::freed_before(const Extent& extent) const {
  After after;
  for (std::uint32_t i = 0; i < extent.fragments; ++i) {
    const auto freed = freed_fragments_.find(extent.at + i);
    if (freed != freed_fragments_.end()) after.add(volume_.disk, freed->second);
  }
  return after;
}

void SchedulerChains::forget_complete() {
  const auto entries = [&] {
    return freed_fragments_.size() + freed_inodes_.size() + names_.size() + made_.size() +
           moved_out_.size() + blocks_.size();
  };
  if (entries() < forget_at_) return;
  const auto complete = [&](const auto& entry) { return !volume_.disk.pending(entry.second); };
  std::erase_if(freed_fragments_, complete);
  std::erase_if(freed_inodes_, complete);
  std::erase_if(names_, complete);
  std::erase_if(made_, complete);
  const auto all_complete = [&](const auto& entry) {
    return std::none_of(entry.second.ids().begin(), entry.second.ids().end(),
                        [&](os::RequestId id) { return volume_.disk.pending(id); });
  };
  std::erase_if(moved_out_, all_complete);
  std::erase_if(blocks_, all_complete);
  forget_at_ = std::max<std::size_t>(4096, entries() * 2);
}

VfsResult<os::HeldBuffer> SchedulerChains::block_allocated(Operation&,
                                                           const BlockAllocation& allocation,
                                                           os::HeldBuffer block) {
  const Extent fresh = ZeroPage::new_part(allocation);
  After pointer = freed_before(fresh);
  const os::BufferKey key = block.key();
  if (allocation.kind == BlockKind::data && !allocation.moved()) {
    blocks_[key].add(volume_.disk, pointer);
    if (options_.allocation_initialization)
      pointer.add(volume_.disk, zeroes_.issue(fresh, {.after = pointer.ids()}));
  } else {
    blocks_[key].add(volume_.disk, pointer);
    if (allocation.kind == BlockKind::data) moves(key);
    os::RequestId id = 0;
    auto again = volume_.write_async_and_hold(std::move(block), {}, id);
    if (!again) return again;
    block = std::move(*again);
    pointer.add(volume_.disk, id);
  }
  if (allocation.holder != nullptr)
    blocks_[allocation.holder->key()].add(volume_.disk, pointer);
  else
    inodes_[allocation.inode.number].add(volume_.disk, pointer);
  return block;
}

VfsResult<void> SchedulerChains::directory_grown(Operation&, CoreInode& directory, std::uint64_t) {
  for (const os::BufferKey& holder : unwritten_indirect_blocks(volume_, directory)) {
    (void)volume_.send_if_dirty(holder, {});
    inodes_[directory.number].add(volume_.disk, volume_.cache.being_written(holder));
  }
  TRY(const auto id, send_inode(directory));
  const auto last =
      static_cast<std::int64_t>(volume_.geometry.blocks_of_size(directory.disk.size_bytes)) - 1;
  blocks_[Volume::block_of(directory.number, last)].add(volume_.disk, id);
  return {};
}

VfsResult<void> SchedulerChains::blocks_removed(Operation&, const BlockRemoval& removal,
                                                os::HeldBuffer holder) {
  VfsResult<os::RequestId> id = os::RequestId{0};
  if (holder)
    id = sent(volume_.cache.write_async(std::move(holder), {.barrier = !tracked()}));
  else
    id = send_inode(removal.inode, !tracked());
  if (!id) return forward_errno(id);
  freed(removal.extents, *id);
  return volume_.free_extents(removal.extents);
}

/// Makes the write that removes or changes an entry follow earlier writes. If the inode was moved,
/// the earlier write is that of its new name. If a directory is removed, the earlier writes are
/// those that moved names out of the directory.
void SchedulerChains::before_name_removal(const DroppedLink& dropped, const os::BufferKey& block) {
  const InodeNumber number = dropped.inode->number;
  if (dropped.moved) {
    const auto name = names_.find(number);
    if (name != names_.end()) blocks_[block].add(volume_.disk, name->second);
  } else if (const auto out = moved_out_.find(number); out != moved_out_.end()) {
    blocks_[block].add(volume_.disk, out->second);
    moved_out_.erase(out);
  }
}

/// Records that the inodes' lower link counts must be written after the name has been removed from
/// the disk by write number `by`.
void SchedulerChains::after_name_removal(const tree::CoreInode& directory,
                                         const DroppedLink& dropped, os::RequestId by) {
  if (dropped.links > 0) inodes_[dropped.inode->number].add(volume_.disk, by);
  if (dropped.parent != nullptr) inodes_[dropped.parent->number].add(volume_.disk, by);
  if (!dropped.moved) return;
  moved_out_[directory.number].add(volume_.disk, by);
  if (dropped.inode->attributes.is_directory()) paths_.add(volume_.disk, by);
}

VfsResult<void> SchedulerChains::link_added(Operation& operation, const LinkAddition& addition,
                                            os::HeldBuffer directory_block) {
  const os::BufferKey key = directory_block.key();
  TRY(const auto inode, send_inode(addition.target));
  blocks_[key].add(volume_.disk, inode);
  if (addition.raises_directory) {
    TRY(const auto parent, send_inode(addition.directory));
    blocks_[key].add(volume_.disk, parent);
  }
  const bool replaces = addition.replaced.inode != nullptr;
  if (!addition.others_follow && !replaces) {
    if (addition.raises_directory) made_[addition.target.number] = inode;
    return volume_.write_last(std::move(directory_block), options_.last_write);
  }
  if (const auto made = made_.find(addition.directory.number); made != made_.end())
    blocks_[key].add(volume_.disk, made->second);
  if (replaces) before_name_removal(addition.replaced, key);
  const os::RequestId name = sent(volume_.cache.write_async(std::move(directory_block)));
  names_[addition.target.number] = name;
  if (addition.target.attributes.is_directory()) paths_.add(volume_.disk, name);
  if (!replaces) return {};
  after_name_removal(addition.directory, addition.replaced, name);
  return volume_.drop_link(operation, addition.replaced);
}

VfsResult<void> SchedulerChains::link_removed(Operation& operation, const LinkRemoval& removal,
                                              os::HeldBuffer directory_block) {
  before_name_removal(removal.dropped, directory_block.key());
  const os::RequestId gone = sent(volume_.cache.write_async(std::move(directory_block)));
  after_name_removal(removal.directory, removal.dropped, gone);
  return volume_.drop_link(operation, removal.dropped);
}

VfsResult<void> SchedulerChains::inode_removed(Operation&, const InodeRemoval& removal) {
  const InodeNumber number = removal.inode.number;
  TRY(const auto id, send_inode(removal.inode, !tracked()));
  freed(removal.extents, id);
  if (tracked()) {
    const bool taken_over = freed_inodes_.emplace(number, id).second;
    invariant(taken_over, "chains: a reused inode must inherit its predecessor's dependencies");
  }
  names_.erase(number);
  made_.erase(number);
  moved_out_.erase(number);
  TRY(volume_.free_extents(removal.extents));
  return volume_.free_inode(number, removal.directory);
}

VfsResult<void> SchedulerChains::fsync(Operation& operation, CoreInode& inode, SyncExtent extent) {
  TRY(Scheme::fsync(operation, inode, extent));
  // Inodes below a moved directory do not record that their path has changed, so fsync waits for
  // all writes that changed a path.
  const After moved = paths_;
  for (const os::RequestId id : moved.ids()) volume_.disk.wait_for(id);
  return {};
}

VfsResult<void> SchedulerChains::sync() {
  auto written = Scheme::sync();
  volume_.disk.drain();
  forget_complete();
  return written;
}

std::size_t SchedulerChains::bytes_in_core() const {
  return (blocks_.size() + inodes_.size() + names_.size() + made_.size() + moved_out_.size() +
          freed_fragments_.size() + freed_inodes_.size()) *
         kDependencyBytes;
}

}  // namespace headcrash::ufs
