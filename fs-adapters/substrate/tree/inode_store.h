#pragma once
// What the tree (file_system.h) needs from the file system beneath it: inodes in core, their blocks
// in buffers, and hooks where the order of writes is decided. ufs fills it by tables and bitmaps in
// fixed places, a log by an inode map, a copy-on-write tree by records; the tree sees no address on
// the disk.
//
//   who       what
//   the tree paths, names in directories' blocks, permissions of POSIX' rules (EEXIST, ENOTEMPTY,
//   loops),
//             links' counts when they rise, offsets in files, the locks of inodes
//   the store where inodes and blocks lie, when they are written, what must be on the disk before
//   what, links'
//             counts when they fall, what becomes of an inode without links, space
//
// Buffers are the cache's (os/buffer_cache.h). A buffer that the store returns is held; a buffer
// that it is given with a hook is held, contains the change, has not been made dirty, and is the
// store's to write. While it is held nobody sends it to the disk: a record that must be first, in a
// log of directory operations, is put there before the buffer is let go. Its home is the store's
// secret.
//
// Locks. The tree holds an inode's lock wherever it passes one, but for get(), share() and put().
// One fiber takes them in this order: the rename lock, inodes (a directory before what is in it;
// among what a rename
// moves: ancestors first), the held block of a directory. The store's own come after these.
// change() and its body's beginning hold none, so that a store may make an operation wait there (a
// checkpoint, a full log).
//
// Errors. ENOSPC leaves nothing changed that a user sees: the tree takes back what it had begun.
// EIO after something has been changed means that memory holds no whole operation: change() has to
// see to it that it never reaches the disk (ufs stops).
//
// Every function is called from a fiber of the executor and may wait, unless it says otherwise.

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

inline constexpr std::size_t kPathBytesMax = 4095;  ///< PATH_MAX without its zero

/// Bytes of a file that an operation is about to change.
struct BytesToChange {
  std::uint64_t offset = 0, length = 0;
  bool fills_holes = true;  ///< false: zeroes, for which a hole may stay one
};

/// A block of a file that is to be written to.
struct BlockWanted {
  std::int64_t block = 0;
  std::uint32_t bytes = 0;   ///< of the block, from its start, that the file will reach to
  bool overwritten = false;  ///< all that it holds now: it need not be read
  /// A new one begins with these, already in what the store's hooks see; empty chunks
  /// (directory_block.h) follow in a directory, else zeroes. The tree lets such a block go as it
  /// is: the store makes it dirty.
  std::span<const std::byte> first_contents = {};
};

enum class SyncExtent : std::uint8_t {
  data,       ///< what is needed to read it back
  everything  ///< times and names, too
};

class InodeStore {
 public:
  /// All must outlive it.
  InodeStore(os::Executor& its_executor, os::Cpu& its_cpu, os::BufferCache& its_cache)
      : executor(its_executor), cpu(its_cpu), cache(its_cache) {}
  InodeStore(const InodeStore&) = delete;
  InodeStore& operator=(const InodeStore&) = delete;
  virtual ~InodeStore();

  os::Executor& executor;
  os::Cpu& cpu;  ///< the tree charges it for system calls, lookups and copies
  os::BufferCache& cache;

  // What it is. None of these waits.
  virtual InodeNumber root() const = 0;
  virtual bool is_inode(std::uint64_t number) const = 0;  ///< allocated or not
  virtual std::uint64_t inodes_max() const = 0;           ///< no path is deeper
  virtual std::uint32_t block_bytes() const = 0;     ///< a power of 2, at least a directory's chunk
  virtual std::uint64_t file_bytes_max() const = 0;  ///< a multiple of the block
  virtual std::uint32_t new_directory_bytes()
      const = 0;  ///< a multiple of a directory's chunk; one block
  virtual std::uint32_t symlink_bytes_max() const = 0;  ///< of a target; at most kPathBytesMax
  virtual bool stopped() const = 0;  ///< it can be read, and changes nothing any more
  virtual bool writes_through() const { return false; }  ///< as its syncer says (os/syncer.h)
  /// Who wants to read only begins no operation. So it is when it has stopped.
  virtual bool takes_no_changes() const { return stopped(); }
  virtual std::uint64_t allocated_bytes(const CoreInode& inode) const = 0;  ///< st_blocks times 512
  /// Memory of its structures that is in no buffer: inodes in core, maps, dependencies, copies of
  /// blocks. What each of them counts for is an estimate of a kernel's in C, the same on every
  /// host. It may look at all of them.
  virtual std::size_t bytes_in_core() const = 0;

  /// Charges that memory to the cache, if its options say so, once a second of its clock. No lock
  /// is held; waits for room as BufferCache::get() does.
  void charge_structures();

  /// Runs one system call that changes something as one operation of the store's own type: begins
  /// it (a journal's handle, room in a log), runs the body, ends it. May run the body again, once,
  /// when it fails with ENOSPC and there was something to be reclaimed. Refuses with EIO when the
  /// store has stopped.
  virtual VfsResult<void> change(const std::function<VfsResult<void>(Operation&)>& body) = 0;

  // Inodes in core.
  /// Not locked. EIO: there is no such number. An inode that is not allocated comes with mode 0.
  virtual VfsResult<InodeHandle> get(InodeNumber number, Operation* operation) = 0;
  /// Another reference to one that is in core. Does not wait.
  virtual InodeHandle share(CoreInode& inode, Operation* operation) = 0;
  /// A new inode, empty, of a generation of its own, for a name in `directory`; where its number
  /// comes from is the store's policy. The tree locks it and gives it mode, links and times.
  /// ENOSPC: there is none left.
  virtual VfsResult<InodeHandle> make(Operation& operation, CoreInode& directory,
                                      bool is_directory) = 0;
  /// Its attributes differ from what the disk has or will have: written in the store's own time.
  /// Does not wait.
  virtual void mark_changed(CoreInode& inode) = 0;

  // Blocks of files and directories, 0 and up.
  /// Held, as its users are to see it; an empty buffer: a hole. May be shorter than a block at the
  /// file's end, and is never shorter than the file.
  virtual VfsResult<os::HeldBuffer> read_block(CoreInode& inode, std::int64_t block) = 0;
  /// Before bytes of a file are changed: a store in which a cut shows wholly or not at all what an
  /// operation has written refuses here, with ENOSPC, what it has no room for; what it does not
  /// refuse finds room.
  virtual VfsResult<void> make_room(Operation& operation, CoreInode& inode,
                                    const BytesToChange& change);
  /// The same for who is about to change some of its bytes: entries of a directory, zeroes in a
  /// file. A store that copies what it changes does so here. ENOSPC (of a file only): there is no
  /// room for the copy.
  virtual VfsResult<os::HeldBuffer> block_to_change(Operation& operation, CoreInode& inode,
                                                    std::int64_t block);
  /// Held: allocated if it was a hole, grown if it was too short. The inode's size is the caller's
  /// to raise, afterwards. ENOSPC: there is no room left.
  virtual VfsResult<os::HeldBuffer> block_for_writing(Operation& operation, CoreInode& inode,
                                                      const BlockWanted& wanted) = 0;
  /// A block of a file that block_to_change() or block_for_writing() gave has new bytes: written in
  /// the store's own time.
  virtual void write_delayed(os::HeldBuffer buffer) = 0;
  /// The same of a block of a file whose last byte has been written: a store that writes behind
  /// sends it now, and may wait.
  virtual void write_filled(CoreInode& inode, os::HeldBuffer buffer) {
    (void)inode;
    write_delayed(std::move(buffer));
  }
  /// Blocks from `first` on up to `end` become holes.
  virtual VfsResult<void> free_blocks(Operation& operation, CoreInode& inode, std::int64_t first,
                                      std::int64_t end) = 0;
  /// Makes the file so long, and its size in core: what is cut off is freed, what is added is a
  /// hole.
  virtual VfsResult<void> set_size(Operation& operation, CoreInode& inode,
                                   std::uint64_t size_bytes) = 0;
  /// Adds one or more empty chunks to a directory, and tells touch_directory() (directory.h): the
  /// block in which they are. A directory has no holes and never becomes shorter.
  virtual VfsResult<std::int64_t> grow_directory(Operation& operation, CoreInode& directory) = 0;

  // A symbolic link's target; unless overridden it lies in blocks.
  virtual VfsResult<void> write_target(Operation& operation, CoreInode& link,
                                       std::string_view target);
  virtual VfsResult<std::string> read_target(CoreInode& link);

  // Where order is decided.
  virtual VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                                     os::HeldBuffer directory_block) = 0;
  /// Lowers the count of what was dropped, now (drop_link()) or when it may; until then it owes the
  /// removal (CoreInode::deferred_removals).
  virtual VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                                       os::HeldBuffer directory_block) = 0;
  /// A rename is about to remove another name of the inode, whose new name has been added: the new
  /// one must be first on the disk. No block is held.
  virtual VfsResult<void> settle_name(Operation& operation, CoreInode& inode);
  /// A directory has another name, of which link_added() has told.
  virtual void directory_moved(CoreInode& directory);

  /// fsync and what O_SYNC adds to a write.
  virtual VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) = 0;

  Timestamp now() const {
    return {.seconds = static_cast<std::int32_t>(executor.now() / kNsPerSecond),
            .nanoseconds = static_cast<std::int32_t>(executor.now() % kNsPerSecond)};
  }

 protected:
  /// For a store that drops links at once, from link_removed() and for LinkAddition::replaced.
  void drop_link(const DroppedLink& dropped);

 private:
  std::size_t charged_bytes_ = 0;
  os::TimeNs next_charge_ns_ = 0;
  bool charging_ = false;  ///< a fiber waits for room
};

}  // namespace headcrash::tree
