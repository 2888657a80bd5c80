#pragma once
// State shared by operations and schemes: one mounted file system with its disk, cache and syncer.
//
// I/O errors. If a write of a block fails, the block stays dirty and is written again
// (buffer_cache.h). fsync and sync fail while something that they cover has not been written. Four
// kinds of errors stop the file system. The first is an I/O error in an operation that has already
// changed something. The second is a failed write on which later writes depend, as each scheme
// defines. The third is a failed write of the journal. The fourth occurs when blocks that cannot be
// written fill more than half of the cache. A stopped file system can be read, but writes nothing,
// so the disk stays as if the power had been cut at that instant. A stopped file system is not
// marked clean when it is unmounted.
//
// A fiber acquires locks in this order: the rename lock, inodes (a directory before its children;
// for rename, ancestors first, tree/file_system.h), a directory block, indirect blocks (upper
// before lower), a cylinder group or an inode block. A cylinder group or an inode block is held for
// a single change only.

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

/// Key of the superblock's buffer. A separate key is needed, because the superblock need not have
/// the length or the alignment of a fragment.
inline constexpr os::BufferKey kSuperblockKey{.object = 0, .block = -1};

class Volume {
 public:
  /// write_behind.h describes `write_behind_bytes`.
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
  std::vector<Summary> groups;  ///< free space in each group
  Allocator allocator;
  Inodes inodes;
  PendingNames names;
  WriteBehind write_behind;
  std::unique_ptr<Scheme> scheme;
  JournalSuperblock journal;  ///< set by the mount if the file system has a journal
  bool abandoned = false;     ///< the power is off, so nothing may be written or removed
  /// The file system was mounted although it had been neither unmounted nor checked.
  bool unchecked = false;
  /// With the feature busy_map: groups whose records are marked busy on the disk or are about to be
  /// marked (busy_map.h).
  std::vector<bool> on_map;
  tree::ChangesByFiber changes;  ///< tracks which operations have changed metadata

  /// Stops the file system permanently. May be called from handlers and fibers.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  std::uint64_t lba(FragmentAddress at) const {
    return std::uint64_t{at} * (super.fragment_bytes / kSectorBytes);
  }
  std::size_t bytes(std::uint32_t fragments) const {
    return std::size_t{fragments} * super.fragment_bytes;
  }
  /// Implements tree::InodeStore::bytes_in_core().
  std::size_t bytes_in_core() const;
  /// Keys of buffers. place() is for blocks identified by their address (groups, inodes, indirect
  /// blocks), and block_of() is for blocks of files.
  static os::BufferKey place(FragmentAddress at) { return {.object = 0, .block = at}; }
  static os::BufferKey block_of(InodeNumber inode, std::int64_t block) {
    return {.object = inode, .block = block};
  }
  /// Returns the held buffer of a whole metadata block.
  VfsResult<os::HeldBuffer> read_block(FragmentAddress at);

  // Schemes call the following functions once the release of the space, inode or link is safe.
  VfsResult<void> free_extents(const std::vector<Extent>& extents);
  VfsResult<void> free_inode(InodeNumber number, bool directory);
  /// Lowers the link counts that `dropped` describes. The caller must hold a reference to, and the
  /// lock of, each inode in `dropped`.
  VfsResult<void> drop_link(Operation& operation, const DroppedLink& dropped);
  void lower_links(tree::CoreInode& inode, std::uint16_t links);

  /// Writes the cached block if it is dirty and the scheme permits the write.
  VfsResult<void> write_if_dirty(const os::BufferKey& key);
  /// Like write_if_dirty(), but does not wait. Returns 0 if the block was not dirty.
  os::RequestId send_if_dirty(const os::BufferKey& key, const os::Ordering& ordering);
  /// Issues the last write of a series. `how` says whether to wait for it.
  VfsResult<void> write_last(os::HeldBuffer buffer, LastWrite how);
  // A write normally releases the buffer. The following functions hold the buffer again after the
  // write, and return it.
  VfsResult<os::HeldBuffer> write_delayed_and_hold(os::HeldBuffer buffer);
  VfsResult<os::HeldBuffer> write_async_and_hold(os::HeldBuffer buffer,
                                                 const os::Ordering& ordering, os::RequestId& id);
  VfsResult<os::HeldBuffer> write_and_hold(os::HeldBuffer buffer);

  /// Writes the summary block that contains this group's summary.
  VfsResult<void> write_summary(std::uint32_t group, LastWrite how);
  /// Copies the superblock and the groups' summaries to their buffers and writes them. `clean` is
  /// the new clean flag; it may be true only if everything else is on the disk.
  VfsResult<void> write_superblock(bool clean);

 private:
  VfsResult<void> write_summaries();
  VfsResult<void> write_summary_block(std::uint32_t first, LastWrite how);

  bool stopped_ = false;
};

/// Converts a device's status to a result: EIO unless the status is ok.
inline VfsResult<void> as_result(model::Status status) {
  if (status == model::Status::ok) return {};
  return refuse(EIO);
}

}  // namespace headcrash::ufs
