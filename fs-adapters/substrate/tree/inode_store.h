#pragma once
// Interface between the tree (file_system.h) and a file system's storage: in-core inodes, their
// blocks in buffers, and hooks that control the order of writes. ufs implements the interface with
// inode tables and bitmaps at fixed addresses, lfs with an inode map, and snapfs with copy-on-write
// inode records. The tree sees no disk addresses.
//
//   the tree   paths, names in directory blocks, POSIX rules (EEXIST, ENOTEMPTY, loops), raising of
//              link counts, offsets in files, inode locks
//   the store  placement of inodes and blocks, times and order of writes, lowering of link counts,
//              inodes without links, space
//
// Buffers are those of the cache (os/buffer_cache.h). A buffer that the store returns is held. A
// buffer passed to the store with a hook is held, contains the change, and is not marked dirty yet;
// the store must write it. A held buffer is not sent to the disk, so a store with a log of
// directory operations can first write the record that must precede it. Only the store knows the
// buffer's home.
//
// Locks. The tree holds the lock of each inode that it passes, except to get(), share() and put().
// A fiber acquires locks in this order: the rename lock, inodes (a directory before its children;
// for a rename, ancestors first), the held block of a directory, and then the store's own locks.
// change() and the start of its body hold no locks, so a store may make an operation wait there
// (for a checkpoint, or a full log).
//
// Errors. ENOSPC leaves no visible change: the tree rolls back what it has begun. EIO after a
// change means that memory contains a partial operation; change() must ensure that it never reaches
// the disk (ufs stops).
//
// All functions are called from a fiber and may wait, unless noted otherwise.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/cpu.h"
#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/substrate/tree/core_inode.h"
#include "fs-adapters/substrate/tree/link_changes.h"
#include "fs-adapters/vfs.h"

namespace headcrash::tree {

inline constexpr std::size_t kPathBytesMax = 4095;  ///< PATH_MAX without the terminating zero

/// File bytes that an operation is about to change.
struct BytesToChange {
  std::uint64_t offset = 0, length = 0;
  bool fills_holes = true;  ///< If false, the new bytes are zeroes, so holes may remain holes.
};

/// A file block that an operation is about to write.
struct BlockWanted {
  std::int64_t block = 0;
  std::uint32_t bytes = 0;   ///< number of bytes that the block must have after the write
  bool overwritten = false;  ///< the caller overwrites all current bytes, so no read is needed
  /// Bytes with which a new block begins. The store's hooks may see them. The store fills the rest
  /// of the block with empty chunks (directory_block.h) in a directory, and with zeroes otherwise.
  /// The tree releases the block without marking it dirty, so the store must mark it dirty.
  std::span<const std::byte> first_contents = {};
};

enum class SyncExtent : std::uint8_t {
  data,       ///< the data, and the metadata that is needed to read it back
  everything  ///< also all attributes and names
};

class InodeStore {
 public:
  /// All arguments must outlive the store.
  InodeStore(os::Executor& its_executor, os::Cpu& its_cpu, os::BufferCache& its_cache)
      : executor(its_executor), cpu(its_cpu), cache(its_cache) {}
  InodeStore(const InodeStore&) = delete;
  InodeStore& operator=(const InodeStore&) = delete;
  virtual ~InodeStore();

  os::Executor& executor;
  os::Cpu& cpu;  ///< the tree charges system calls, lookups and copies to it
  os::BufferCache& cache;

  // The following functions return properties of the store. They do not wait.
  virtual InodeNumber root() const = 0;
  /// Returns true if the number is a valid inode number, whether or not the inode is allocated.
  virtual bool is_inode(std::uint64_t number) const = 0;
  /// Returns the number of inodes. This number also limits the depth of paths.
  virtual std::uint64_t inodes_max() const = 0;
  virtual std::uint32_t block_bytes() const = 0;     ///< a power of 2, at least one directory chunk
  virtual std::uint64_t file_bytes_max() const = 0;  ///< a multiple of the block size
  /// Initial size of a directory. It is a multiple of the size of a directory chunk, and at most
  /// one block.
  virtual std::uint32_t new_directory_bytes() const = 0;
  /// Maximum length of a symbolic link's target; at most kPathBytesMax.
  virtual std::uint32_t symlink_bytes_max() const = 0;
  /// If true, the store can still be read but accepts no more changes.
  virtual bool stopped() const = 0;
  /// True if the syncer's policy is write-through (os/syncer.h).
  virtual bool writes_through() const { return false; }
  /// Returns true if the store is read-only. Callers must then not begin an operation. A stopped
  /// store is also read-only.
  virtual bool takes_no_changes() const { return stopped(); }
  /// Returns the space allocated to the inode, in bytes (512 times st_blocks).
  virtual std::uint64_t allocated_bytes(const CoreInode& inode) const = 0;
  /// Returns the memory used by structures outside of buffers: in-core inodes, maps, dependencies,
  /// copies of blocks. The size of each structure is an estimate of its size in a C kernel, so the
  /// result is the same on every host. May iterate over all structures.
  virtual std::size_t bytes_in_core() const = 0;

  /// Charges the memory reported by bytes_in_core() to the cache, once per second of model time, if
  /// the cache's options ask for that. Must be called without locks. Waits for room as
  /// BufferCache::get() does.
  void charge_structures();

  /// Runs one system call that changes something. Runs it as one operation: begins the operation
  /// (for example, with a journal handle or with room in a log), runs the body, and ends the
  /// operation. If the body fails with ENOSPC and space could be reclaimed, may run it a second
  /// time. Fails with EIO if the store has stopped.
  virtual VfsResult<void> change(const std::function<VfsResult<void>(Operation&)>& body) = 0;

  // In-core inodes.

  /// Returns the inode, not locked. Fails with EIO if the number is invalid. An unallocated inode
  /// has mode 0.
  virtual VfsResult<InodeHandle> get(InodeNumber number, Operation* operation) = 0;
  /// Returns an additional reference to an in-core inode. Does not wait.
  virtual InodeHandle share(CoreInode& inode, Operation* operation) = 0;
  /// Allocates an empty inode with a new generation. The inode will get a name in `directory`. The
  /// store chooses the inode number. The tree then locks the inode and sets its mode, links and
  /// times. Fails with ENOSPC if no inode is free.
  virtual VfsResult<InodeHandle> make(Operation& operation, CoreInode& directory,
                                      bool is_directory) = 0;
  /// Records that the in-core attributes differ from those on the disk. The store decides when to
  /// write them. Does not wait.
  virtual void mark_changed(CoreInode& inode) = 0;

  // Blocks of files and directories, counted from 0.

  /// Returns the block, held, with the contents that users must see. Returns an empty buffer if the
  /// block is a hole. The last block of a file may be shorter than a full block, but contains all
  /// bytes up to the end of the file.
  virtual VfsResult<os::HeldBuffer> read_block(CoreInode& inode, std::int64_t block) = 0;
  /// Called before bytes of a file are changed. A store whose writes are atomic across a power cut
  /// must fail here with ENOSPC if it has too little space for the change; after this call has
  /// succeeded, the change must not fail with ENOSPC.
  virtual VfsResult<void> make_room(Operation& operation, CoreInode& inode,
                                    const BytesToChange& change);
  /// Like read_block(), but for callers that are about to change some of the block's bytes: entries
  /// in a directory, or zeroes in a file. A copy-on-write store copies the block here. For files,
  /// fails with ENOSPC if there is no space for the copy.
  virtual VfsResult<os::HeldBuffer> block_to_change(Operation& operation, CoreInode& inode,
                                                    std::int64_t block);
  /// Returns the block, held. Allocates the block if it is a hole, and extends the block if it is
  /// too short. The caller must then raise the inode's size if necessary. Fails with ENOSPC if no
  /// space is free.
  virtual VfsResult<os::HeldBuffer> block_for_writing(Operation& operation, CoreInode& inode,
                                                      const BlockWanted& wanted) = 0;
  /// Releases a block from block_to_change() or block_for_writing() after the caller has changed
  /// it. The store decides when to write the block.
  virtual void write_delayed(os::HeldBuffer buffer) = 0;
  /// Like write_delayed(), but for a file block that has been filled to its last byte. A store with
  /// write-behind issues the write now, and may wait.
  virtual void write_filled(CoreInode& inode, os::HeldBuffer buffer) {
    (void)inode;
    write_delayed(std::move(buffer));
  }
  /// Turns the blocks from `first` to `end`, exclusive, into holes.
  virtual VfsResult<void> free_blocks(Operation& operation, CoreInode& inode, std::int64_t first,
                                      std::int64_t end) = 0;
  /// Sets the file's size, on the disk and in core. If the file shrinks, frees the blocks beyond
  /// its end; if it grows, the new part is a hole.
  virtual VfsResult<void> set_size(Operation& operation, CoreInode& inode,
                                   std::uint64_t size_bytes) = 0;
  /// Adds one or more empty chunks to a directory and calls touch_directory() (directory.h).
  /// Returns the number of the block that contains them. A directory has no holes and never
  /// shrinks.
  virtual VfsResult<std::int64_t> grow_directory(Operation& operation, CoreInode& directory) = 0;

  // The following functions write and read the target of a symbolic link. By default, the target is
  // stored in the link's blocks.
  virtual VfsResult<void> write_target(Operation& operation, CoreInode& link,
                                       std::string_view target);
  virtual VfsResult<std::string> read_target(CoreInode& link);

  // Hooks that control the order of writes.

  virtual VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                                     os::HeldBuffer directory_block) = 0;
  /// Lowers the link count of the inode that lost a name, either immediately (drop_link()) or as
  /// soon as the order of writes permits. In the meantime, the removal is pending
  /// (CoreInode::deferred_removals).
  virtual VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                                       os::HeldBuffer directory_block) = 0;
  /// Called before a rename removes another name of the inode, after the new name has been added.
  /// Ensures that the new name reaches the disk first. The caller holds no block.
  virtual VfsResult<void> settle_name(Operation& operation, CoreInode& inode);
  /// Called after link_added() if the new name is that of a moved directory.
  virtual void directory_moved(CoreInode& directory);

  /// Implements fsync. Also used for writes with O_SYNC.
  virtual VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) = 0;

  Timestamp now() const {
    return {.seconds = static_cast<std::int32_t>(executor.now() / kNsPerSecond),
            .nanoseconds = static_cast<std::int32_t>(executor.now() % kNsPerSecond)};
  }

 protected:
  /// Lowers the link count at once. Stores that do not defer removals call this from
  /// link_removed(), and for LinkAddition::replaced.
  void drop_link(const DroppedLink& dropped);

 private:
  std::size_t charged_bytes_ = 0;
  os::TimeNs next_charge_ns_ = 0;
  bool charging_ = false;  ///< a fiber is charging memory, and may be waiting for room
};

}  // namespace headcrash::tree
