// What all ordering schemes have in common (scheme.h), above all what fsync and sync promise.

#include "fs-adapters/ufs/scheme.h"

#include <cerrno>
#include <set>

#include "fs-adapters/ufs/file_blocks.h"
#include "fs-adapters/ufs/volume.h"

namespace headcrash::ufs {

DroppedLink dropped_from(CoreInode& parent, CoreInode& inode) {
  if (!inode.disk.is_directory()) return {.inode = &inode};
  return {.inode = &inode, .parent = &parent, .links = 2};
}

namespace {

constexpr int kSyncRoundsMax = 100;  // of a sync: what others do meanwhile need not be waited for

VfsResult<void> write_inode(Volume& volume, CoreInode& inode) {
  if (inode.changed)
    if (auto copied = volume.inodes.write_delayed(inode); !copied) return copied;
  return volume.write_if_dirty(volume.inodes.block_key(inode.number));
}

VfsResult<void> write_file(Volume& volume, CoreInode& inode) {
  if (auto data = as_result(volume.cache.flush_object(inode.number)); !data) return data;
  for (const os::BufferKey& key : unwritten_indirect_blocks(volume, inode))
    if (auto written = volume.write_if_dirty(key); !written) return written;
  return write_inode(volume, inode);
}

/// The names that lead to it, and what leads to them.
VfsResult<void> write_names(Volume& volume, Operation& operation, CoreInode& inode,
                            std::set<InodeNumber>& seen) {
  if (!seen.insert(inode.number).second) return {};
  while (!inode.names.empty()) {
    const PendingName name = inode.names.back();
    inode.names.pop_back();
    auto directory = volume.inodes.get(name.directory, &operation);
    if (!directory) return pass_on_errno(directory);
    if (!(*directory)->disk.is_directory()) continue;  // removed, its number somebody else's
    auto written = write_inode(volume, **directory);
    if (written) written = volume.write_if_dirty(Volume::block_of(name.directory, name.block));
    if (written) written = write_names(volume, operation, **directory, seen);
    if (!written) {
      inode.names.push_back(name);
      return written;
    }
  }
  return {};
}

}  // namespace

VfsResult<void> Scheme::fsync(Operation& operation, CoreInode& inode, SyncExtent) {
  if (auto written = write_file(volume_, inode); !written) return written;
  std::set<InodeNumber> seen;
  return write_names(volume_, operation, inode, seen);
}

VfsResult<void> Scheme::sync() {
  for (int round = 0; round < kSyncRoundsMax; ++round) {
    if (auto copied = volume_.inodes.write_all_delayed(); !copied) return copied;
    if (auto flushed = as_result(volume_.cache.flush_all()); !flushed) return flushed;
    volume_.syncer.do_work(os::Syncer::Extent::everything);
    if (!volume_.cache.any_dirty() && volume_.syncer.work_waiting() == 0) return {};
  }
  return {};
}

}  // namespace headcrash::ufs
