// Synchronous writes (conventional.h).

#include "fs-adapters/ufs/schemes/conventional.h"

#include <cerrno>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

Conventional::Conventional(Volume& volume, const SchemeOptions& options)
    : Scheme(volume, options), zeroes_(volume) {}

VfsResult<void> Conventional::write_inode(tree::CoreInode& inode) {
  TRY(auto buffer, volume_.inodes.copy_to_block(inode));
  return as_result(volume_.cache.write(std::move(buffer)));
}

VfsResult<os::HeldBuffer> Conventional::block_allocated(Operation&,
                                                        const BlockAllocation& allocation,
                                                        os::HeldBuffer block) {
  const bool data = allocation.kind == BlockKind::data;
  if (data && !allocation.moved()) {
    if (!options_.allocation_initialization) return block;
    if (auto written = zeroes_.write(ZeroPage::new_part(allocation)); !written)
      return forward_errno(written);
    return block;
  }
  return volume_.write_and_hold(std::move(block));
}

VfsResult<void> Conventional::directory_grown(Operation&, CoreInode& directory, std::uint64_t) {
  for (const os::BufferKey& holder : unwritten_indirect_blocks(volume_, directory))
    TRY(volume_.write_if_dirty(holder));
  return write_inode(directory);
}

VfsResult<void> Conventional::blocks_removed(Operation&, const BlockRemoval& removal,
                                             os::HeldBuffer holder) {
  auto written =
      holder ? as_result(volume_.cache.write(std::move(holder))) : write_inode(removal.inode);
  if (!written) return written;
  return volume_.free_extents(removal.extents);
}

VfsResult<void> Conventional::link_added(Operation& operation, const LinkAddition& addition,
                                         os::HeldBuffer directory_block) {
  TRY(write_inode(addition.target));
  if (addition.raises_directory) TRY(write_inode(addition.directory));
  const bool replaces = addition.replaced.inode != nullptr;
  if (!addition.others_follow && !replaces)
    return volume_.write_last(std::move(directory_block), options_.last_write);
  TRY(as_result(volume_.cache.write(std::move(directory_block))));
  return replaces ? volume_.drop_link(operation, addition.replaced) : VfsResult<void>();
}

VfsResult<void> Conventional::link_removed(Operation& operation, const LinkRemoval& removal,
                                           os::HeldBuffer directory_block) {
  TRY(as_result(volume_.cache.write(std::move(directory_block))));
  return volume_.drop_link(operation, removal.dropped);
}

VfsResult<void> Conventional::inode_removed(Operation&, const InodeRemoval& removal) {
  TRY(write_inode(removal.inode));
  TRY(volume_.free_extents(removal.extents));
  return volume_.free_inode(removal.inode.number, removal.directory);
}

}  // namespace headcrash::ufs
