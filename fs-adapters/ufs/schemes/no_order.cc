// Delays all metadata writes, and imposes no order on them (no_order.h).

#include "fs-adapters/ufs/schemes/no_order.h"

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

VfsResult<os::HeldBuffer> NoOrder::block_allocated(Operation&, const BlockAllocation& allocation,
                                                   os::HeldBuffer block) {
  if (allocation.kind == BlockKind::data) return block;
  return volume_.write_delayed_and_hold(std::move(block));
}

VfsResult<void> NoOrder::directory_grown(Operation&, CoreInode& directory, std::uint64_t) {
  return volume_.inodes.write_delayed(directory);
}

VfsResult<void> NoOrder::blocks_removed(Operation&, const BlockRemoval& removal,
                                        os::HeldBuffer holder) {
  if (holder)
    volume_.cache.write_delayed(std::move(holder));
  else
    TRY(volume_.inodes.write_delayed(removal.inode));
  return volume_.free_extents(removal.extents);
}

VfsResult<void> NoOrder::link_added(Operation& operation, const LinkAddition& addition,
                                    os::HeldBuffer directory_block) {
  volume_.cache.write_delayed(std::move(directory_block));
  TRY(volume_.inodes.write_delayed(addition.target));
  if (addition.replaced.inode == nullptr) return {};
  return volume_.drop_link(operation, addition.replaced);
}

VfsResult<void> NoOrder::link_removed(Operation& operation, const LinkRemoval& removal,
                                      os::HeldBuffer directory_block) {
  volume_.cache.write_delayed(std::move(directory_block));
  return volume_.drop_link(operation, removal.dropped);
}

VfsResult<void> NoOrder::inode_removed(Operation&, const InodeRemoval& removal) {
  TRY(auto block, volume_.inodes.copy_to_block(removal.inode));
  TRY(volume_.write_last(std::move(block), options_.removed_inode));
  TRY(volume_.free_extents(removal.extents));
  return volume_.free_inode(removal.inode.number, removal.directory);
}

}  // namespace headcrash::ufs
