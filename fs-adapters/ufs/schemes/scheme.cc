// Code common to all ordering schemes (scheme.h), including fsync and sync.

#include "fs-adapters/ufs/schemes/scheme.h"

#include <cerrno>
#include <set>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/core/write_kind.h"

namespace headcrash::ufs {

namespace {

/// The volume stops if blocks that cannot be written fill more than 1/2 of the cache.
constexpr std::uint64_t kShareOfFailures = 2;

VfsResult<void> write_inode(Volume& volume, CoreInode& inode) {
  if (volume.inodes.changed(inode.number)) TRY(volume.inodes.write_delayed(inode));
  return volume.write_if_dirty(volume.inodes.block_key(inode.number));
}

VfsResult<void> write_pointers(Volume& volume, CoreInode& inode) {
  for (const os::BufferKey& key : unwritten_indirect_blocks(volume, inode))
    TRY(volume.write_if_dirty(key));
  return write_inode(volume, inode);
}

/// Writes the pending names of the inode and of all its parent directories. `seen` contains the
/// inodes that have already been processed.
VfsResult<void> write_names(Volume& volume, Operation& operation, InodeNumber inode,
                            std::set<InodeNumber>& seen) {
  if (!seen.insert(inode).second) return {};
  const std::vector<PendingName> names = volume.names.of(inode);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    TRY(auto directory, volume.inodes.get(name->directory, &operation));
    // If this inode is no longer a directory, another user has removed the directory since the
    // pending name was noted.
    if (!directory->disk.is_directory()) continue;
    auto written = write_pointers(volume, *directory);
    if (written) written = volume.write_if_dirty(Volume::block_of(name->directory, name->block));
    if (written) written = write_names(volume, operation, name->directory, seen);
    if (!written) return written;
  }
  return {};
}

}  // namespace

VfsResult<void> Scheme::write_with_names(Operation& operation, CoreInode& inode) {
  TRY(as_result(volume_.cache.flush_object(inode.number)));
  TRY(write_pointers(volume_, inode));
  std::set<InodeNumber> seen;
  TRY(write_names(volume_, operation, inode.number, seen));
  const std::set<InodeNumber> moved = volume_.names.moved();
  for (const InodeNumber directory : moved) TRY(write_names(volume_, operation, directory, seen));
  return {};
}

VfsResult<bool> Scheme::names_arrived(Operation& operation, InodeNumber inode,
                                      std::uint64_t noted) {
  const std::vector<InodeNumber> way = volume_.names.inodes_to_sync(inode);
  for (const InodeNumber one : way)
    for (const PendingName& name : volume_.names.of(one)) {
      if (!shows(one, name)) return false;
      if (name.block < kDirectPointers) continue;
      TRY(auto directory, volume_.inodes.get(name.directory, &operation));
      if (!unwritten_indirect_blocks(volume_, *directory).empty()) return false;
    }
  for (const InodeNumber one : way) volume_.names.arrived(one, noted);
  return true;
}

VfsResult<void> Scheme::fsync(Operation& operation, CoreInode& inode, SyncExtent) {
  const std::uint64_t noted = volume_.names.noted();
  TRY(write_with_names(operation, inode));
  TRY(names_arrived(operation, inode.number, noted));
  return {};
}

VfsResult<void> Scheme::bmap_merged(CoreInode&, os::HeldBuffer, BmapMerge) {
  return refuse(EIO);
}
VfsResult<void> Scheme::bmap_ended(CoreInode&) {
  return refuse(EIO);
}

bool Scheme::before_write(os::Outgoing& write) {
  const auto home =
      static_cast<FragmentAddress>(write.lba / volume_.geometry.sectors_per_fragment());
  write.kind = static_cast<std::uint8_t>(
      kind_of(volume_.super, volume_.geometry, write.key, write.content, home));
  return !volume_.stopped();
}

void Scheme::write_failed(const os::BufferKey&, os::Content) {
  if (volume_.cache.failed_bytes() > volume_.cache.size_bytes() / kShareOfFailures) volume_.stop();
}

/// Also waits for writes that another sync has issued. After kSyncRoundsMax rounds, returns without
/// an error even if something is still dirty: other users may keep changing blocks, and a hook may
/// delay blocks. During unmount() there are no other users, and unmount() itself checks whether
/// something is still dirty.
VfsResult<void> Scheme::sync() {
  for (int round = 0; round < kSyncRoundsMax; ++round) {
    TRY(volume_.inodes.write_all_delayed());
    TRY(as_result(volume_.cache.flush_all()));
    volume_.syncer.do_work(os::Syncer::Extent::everything);
    if (!volume_.cache.any_unwritten() && volume_.syncer.work_waiting() == 0) return {};
  }
  return {};
}

}  // namespace headcrash::ufs
