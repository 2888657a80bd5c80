#pragma once
// What operations and schemes share: one mounted file system with its disk, its cache and its
// syncer.
//
// I/O errors. A block whose write fails stays dirty and is written again (buffer_cache.h); fsync
// and sync fail as long as something that they cover has not been written. What cannot be survived
// stops the file
// system: an operation that fails with an I/O error after it began to change something, a failed
// write on which later ones rely (the schemes say which), a failed write of the journal, more
// blocks that cannot be written than half the cache holds. A stopped file system can be read; it
// changes nothing and writes nothing any more, so that the disk stays what a power cut at that
// instant would leave, and is not unmounted as clean.
//
// Locks, in the order in which one fiber takes them: the rename lock, inodes (a directory before
// what is in it; among what rename moves: ancestors first, tree/file_system.h), a directory's
// block, an indirect block (upper before lower), a cylinder group or an inodes' block. The last two
// are held for no longer than one change.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/substrate/tree/changes_by_fiber.h"
#include "fs-adapters/ufs/core/allocator.h"
#include "fs-adapters/ufs/core/inodes.h"
#include "fs-adapters/ufs/core/pending_names.h"
#include "fs-adapters/ufs/core/write_behind.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

/// It has a length of its own and a place that need not be a fragment's.
inline constexpr os::BufferKey kSuperblockKey{.object = 0, .block = -1};

class Volume {
 public:
  /// `write_behind_bytes`: write_behind.h.
  Volume(os::System& system, const Superblock& superblock, std::vector<Summary> groups,
         std::uint64_t write_behind_bytes = 0);
  Volume(const Volume&) = delete;
  Volume& operator=(const Volume&) = delete;

  os::Executor& executor;
  os::Cpu& cpu;
  os::DiskQueue& disk;
  os::BufferCache& cache;
  os::Syncer& syncer;
  Superblock super;
  Geometry geometry;
  std::vector<Summary> groups;  ///< what is free in each
  Allocator allocator;
  Inodes inodes;
  PendingNames names;
  WriteBehind write_behind;
  std::unique_ptr<Scheme> scheme;
  JournalSuperblock journal;  ///< as the mount has made it; where there is one
  bool abandoned = false;     ///< the power is gone: nothing is written or removed any more
  bool unchecked = false;     ///< mounted although it had not been unmounted
  std::vector<bool>
      on_map;  ///< with busy_map: the groups that are, or will be, called busy there (busy_map.h)
  tree::ChangesByFiber changes;  ///< of metadata

  /// From handlers and fibers; for good.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  std::uint64_t lba(FragmentAddress at) const {
    return std::uint64_t{at} * (super.fragment_bytes / kSectorBytes);
  }
  std::size_t bytes(std::uint32_t fragments) const {
    return std::size_t{fragments} * super.fragment_bytes;
  }
  /// tree::InodeStore::bytes_in_core()
  std::size_t bytes_in_core() const;
  /// How a block is named that has its name from its place: groups, inodes, indirect blocks.
  static os::BufferKey place(FragmentAddress at) { return {.object = 0, .block = at}; }
  static os::BufferKey block_of(InodeNumber inode, std::int64_t block) {
    return {.object = inode, .block = block};
  }
  VfsResult<os::HeldBuffer> read_block(
      FragmentAddress at);  ///< a whole block of metadata by its place

  // What schemes call when the time has come.
  VfsResult<void> free_extents(const std::vector<Extent>& extents);
  VfsResult<void> free_inode(InodeNumber number, bool directory);
  /// Lowers the counts. `dropped`'s inodes are locked, and referred to, by the caller.
  VfsResult<void> drop_link(Operation& operation, const DroppedLink& dropped);
  void lower_links(tree::CoreInode& inode, std::uint16_t links);  ///< one of these counts

  /// What is in the cache for that block reaches the disk, as far as the scheme lets it.
  VfsResult<void> write_if_dirty(const os::BufferKey& key);
  /// The same, and nobody waits. 0: it was not dirty.
  os::RequestId send_if_dirty(const os::BufferKey& key, const os::Ordering& ordering);
  /// The last write of a series.
  VfsResult<void> write_last(os::HeldBuffer buffer, LastWrite how);
  // A buffer that is written is given away; these take it again.
  VfsResult<os::HeldBuffer> write_delayed_and_hold(os::HeldBuffer buffer);
  VfsResult<os::HeldBuffer> write_async_and_hold(os::HeldBuffer buffer,
                                                 const os::Ordering& ordering, os::RequestId& id);
  VfsResult<os::HeldBuffer> write_and_hold(os::HeldBuffer buffer);

  /// The block of summaries that this group's is in.
  VfsResult<void> write_summary(std::uint32_t group, LastWrite how);
  /// Puts the superblock and the groups' summaries into their buffers. `clean`: nothing is missing.
  VfsResult<void> write_superblock(bool clean);

 private:
  VfsResult<void> write_summaries();
  VfsResult<void> write_summary_block(std::uint32_t first, LastWrite how);

  bool stopped_ = false;
};

/// The disk's answer as an error number.
inline VfsResult<void> as_result(model::Status status) {
  if (status == model::Status::ok) return {};
  return refuse(EIO);
}

}  // namespace headcrash::ufs
