// Records the dependency graph, and removes blocks from it when they have been written
// (coarse_dependencies.h).
#include "harness/papers/ganger94/coarse_dependencies.h"

#include <vector>

#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::experiment {

os::BufferKey CoarseDependencies::block_of_inode(const tree::CoreInode& inode) const {
  return volume_.inodes.block_key(inode.number);
}

/// Returns true if there is a path from `from` to `to`. Searches depth-first and visits each block
/// only once.
bool CoarseDependencies::leads_to(const os::BufferKey& from, const os::BufferKey& to) const {
  std::vector<os::BufferKey> open{from};
  std::set<os::BufferKey> seen{from};
  while (!open.empty()) {
    const os::BufferKey at = open.back();
    open.pop_back();
    if (at == to) return true;
    const auto next = waits_for_.find(at);
    if (next == waits_for_.end()) continue;
    for (const os::BufferKey& each : next->second)
      if (seen.insert(each).second) open.push_back(each);
  }
  return false;
}

void CoarseDependencies::wait_for(const os::BufferKey& later, const os::BufferKey& earlier) {
  if (later == earlier) return;
  metadata_.insert({later, earlier});
  const auto known = waits_for_.find(later);
  if (known != waits_for_.end() && known->second.contains(earlier)) return;
  ++counters_.dependencies;
  if (leads_to(earlier, later))
    ++counters_.cycles;
  else
    waits_for_[later].insert(earlier);
}

void CoarseDependencies::maps_wait_for(const std::vector<ufs::Extent>& extents,
                                       const os::BufferKey& earlier) {
  for (const ufs::Extent& extent : extents) {
    const std::uint32_t group = volume_.geometry.group_of_fragment(extent.at);
    wait_for(ufs::Volume::place(volume_.geometry.header(group)), earlier);
  }
}

VfsResult<os::HeldBuffer> CoarseDependencies::block_allocated(
    ufs::Operation& operation, const ufs::BlockAllocation& allocation, os::HeldBuffer block) {
  if (allocation.kind != ufs::BlockKind::data)
    wait_for(
        allocation.holder != nullptr ? allocation.holder->key() : block_of_inode(allocation.inode),
        block.key());
  return NoOrder::block_allocated(operation, allocation, std::move(block));
}

VfsResult<void> CoarseDependencies::blocks_removed(ufs::Operation& operation,
                                                   const ufs::BlockRemoval& removal,
                                                   os::HeldBuffer holder) {
  maps_wait_for(removal.extents, holder ? holder.key() : block_of_inode(removal.inode));
  return NoOrder::blocks_removed(operation, removal, std::move(holder));
}

VfsResult<void> CoarseDependencies::link_added(ufs::Operation& operation,
                                               const ufs::LinkAddition& addition,
                                               os::HeldBuffer directory_block) {
  const os::BufferKey entry = directory_block.key();
  wait_for(entry, block_of_inode(addition.target));
  if (addition.raises_directory) wait_for(entry, block_of_inode(addition.directory));
  if (addition.replaced.inode != nullptr) wait_for(block_of_inode(*addition.replaced.inode), entry);
  return NoOrder::link_added(operation, addition, std::move(directory_block));
}

VfsResult<void> CoarseDependencies::link_removed(ufs::Operation& operation,
                                                 const ufs::LinkRemoval& removal,
                                                 os::HeldBuffer directory_block) {
  wait_for(block_of_inode(*removal.dropped.inode), directory_block.key());
  return NoOrder::link_removed(operation, removal, std::move(directory_block));
}

VfsResult<void> CoarseDependencies::inode_removed(ufs::Operation& operation,
                                                  const ufs::InodeRemoval& removal) {
  maps_wait_for(removal.extents, block_of_inode(removal.inode));
  if (removal.directory) forget_blocks_of(removal.inode.number);
  return NoOrder::inode_removed(operation, removal);
}

bool CoarseDependencies::before_write(os::Outgoing& write) {
  if (!NoOrder::before_write(write)) return false;
  const auto known = waits_for_.find(write.key);
  const bool waits = known != waits_for_.end() && !known->second.empty();
  counters_.writes += metadata_.contains(write.key) ? 1 : 0;
  counters_.writes_put_off += waits ? 1 : 0;
  return true;
}

void CoarseDependencies::forget(const os::BufferKey& key) {
  waits_for_.erase(key);
  for (auto& [later, earlier] : waits_for_) earlier.erase(key);
}

/// Removes the blocks of a removed directory from the graph. They are never written, so no block
/// may wait for them.
void CoarseDependencies::forget_blocks_of(ufs::InodeNumber number) {
  std::vector<os::BufferKey> gone;
  for (const os::BufferKey& key : metadata_)
    if (key.object == number) gone.push_back(key);
  for (const os::BufferKey& key : gone) {
    forget(key);
    metadata_.erase(key);
  }
}

void CoarseDependencies::after_write(const os::BufferKey& key, os::RequestId, model::Status) {
  if (metadata_.contains(key)) forget(key);
}

}  // namespace headcrash::experiment
