// Issues asynchronous writes with the ordering flag (scheduler_flag.h).

#include "fs-adapters/ufs/schemes/scheduler_flag.h"

#include "fs-adapters/ufs/core/file_blocks.h"

namespace headcrash::ufs {
namespace {

constexpr os::Ordering kFlagged{.flagged = true};

}  // namespace

SchedulerFlag::SchedulerFlag(Volume& volume, const SchemeOptions& options)
    : DriverOrder(volume, options), zeroes_(volume) {}

VfsResult<void> SchedulerFlag::send_inode(tree::CoreInode& inode) {
  TRY(auto buffer, volume_.inodes.copy_to_block(inode));
  volume_.cache.write_async(std::move(buffer), kFlagged);
  return {};
}

VfsResult<os::HeldBuffer> SchedulerFlag::block_allocated(Operation&,
                                                         const BlockAllocation& allocation,
                                                         os::HeldBuffer block) {
  if (allocation.kind == BlockKind::data && !allocation.moved()) {
    if (options_.allocation_initialization) zeroes_.issue(ZeroPage::new_part(allocation), kFlagged);
    return block;
  }
  if (allocation.kind == BlockKind::data) moves(block.key());
  os::RequestId id = 0;
  return volume_.write_async_and_hold(std::move(block), kFlagged, id);
}

VfsResult<void> SchedulerFlag::directory_grown(Operation&, CoreInode& directory, std::uint64_t) {
  for (const os::BufferKey& holder : unwritten_indirect_blocks(volume_, directory)) {
    if (volume_.send_if_dirty(holder, kFlagged) != 0) continue;
    volume_.disk.wait_for(
        volume_.cache.being_written(holder));  // the syncer has issued this write, without the flag
  }
  return send_inode(directory);
}

VfsResult<void> SchedulerFlag::blocks_removed(Operation&, const BlockRemoval& removal,
                                              os::HeldBuffer holder) {
  if (holder)
    volume_.cache.write_async(std::move(holder), kFlagged);
  else
    TRY(send_inode(removal.inode));
  return volume_.free_extents(removal.extents);
}

VfsResult<void> SchedulerFlag::link_added(Operation& operation, const LinkAddition& addition,
                                          os::HeldBuffer directory_block) {
  TRY(send_inode(addition.target));
  if (addition.raises_directory) TRY(send_inode(addition.directory));
  const bool replaces = addition.replaced.inode != nullptr;
  if (!addition.others_follow && !replaces)
    return volume_.write_last(std::move(directory_block), options_.last_write);
  const os::RequestId name = volume_.cache.write_async(std::move(directory_block), kFlagged);
  if (addition.target.attributes.is_directory()) last_path_ = name;
  return replaces ? volume_.drop_link(operation, addition.replaced) : VfsResult<void>();
}

VfsResult<void> SchedulerFlag::link_removed(Operation& operation, const LinkRemoval& removal,
                                            os::HeldBuffer directory_block) {
  const os::RequestId gone = volume_.cache.write_async(std::move(directory_block), kFlagged);
  if (removal.dropped.moved && removal.dropped.inode->attributes.is_directory()) last_path_ = gone;
  return volume_.drop_link(operation, removal.dropped);
}

VfsResult<void> SchedulerFlag::inode_removed(Operation&, const InodeRemoval& removal) {
  TRY(send_inode(removal.inode));
  TRY(volume_.free_extents(removal.extents));
  return volume_.free_inode(removal.inode.number, removal.directory);
}

VfsResult<void> SchedulerFlag::fsync(Operation& operation, CoreInode& inode, SyncExtent extent) {
  TRY(Scheme::fsync(operation, inode, extent));
  // Inodes below a moved directory do not record that their path has changed, so fsync waits for
  // the last write that changed a path.
  volume_.disk.wait_for(last_path_);
  return {};
}

VfsResult<void> SchedulerFlag::sync() {
  auto written = Scheme::sync();
  volume_.disk.drain();
  return written;
}

}  // namespace headcrash::ufs
