#pragma once
// Inodes in core: what operations work on, apart from the blocks they came from.
//
// An inode is brought in core when somebody asks for it, and copied back to its block when it has changed and
// nobody refers to it any more, when a scheme wants it on the disk, at fsync and sync, and half a minute
// after its change at the latest. Those that nobody refers to stay until there are too many. An inode whose
// last link is gone lives until its last user leaves, who then removes it (scheme.h, 4b).

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/os/buffer_cache.h"
#include "fs-adapters/os/executor.h"
#include "fs-adapters/ufs/format.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class Volume;
struct Operation;

/// A search of a directory that did not find the name, and what it saw of room for it on its way (BSD's and
/// SVR4's lookups look for both in one pass).
struct MissedName {
  std::string name;
  std::optional<std::int64_t> room;  ///< the first block that has it
  std::uint64_t changes = 0;  ///< CoreInode::entry_changes when it was made: it holds no longer than that
};

struct CoreInode {
  CoreInode(os::Executor& executor, InodeNumber its_number) : number(its_number), lock(executor) {}

  InodeNumber number;
  Inode disk;
  os::FiberLock lock;
  std::uint32_t references = 0;
  bool loaded = false;
  bool changed = false;             ///< differs from the copy in its block
  std::uint32_t owed_removals = 0;  ///< links that are gone for users and still counted
  std::uint64_t entry_changes = 1;  ///< a directory: counts them
  MissedName missed;
  std::int64_t next_sequential = 0;  ///< the block that a sequential reader would ask for next
  std::list<InodeNumber>::iterator idle = {};

  std::uint32_t effective_links() const { return disk.links - owed_removals; }
};

/// A reference to an inode in core. Its end may remove the inode, and waits for that.
class InodeHandle {
 public:
  InodeHandle() = default;
  InodeHandle(Volume& volume, CoreInode& inode, Operation* operation)
      : volume_(&volume), inode_(&inode), operation_(operation) {}
  InodeHandle(InodeHandle&& other) noexcept { *this = std::move(other); }
  InodeHandle& operator=(InodeHandle&& other) noexcept {
    reset();
    volume_ = other.volume_;
    operation_ = other.operation_;
    inode_ = std::exchange(other.inode_, nullptr);
    return *this;
  }
  ~InodeHandle() { reset(); }

  explicit operator bool() const { return inode_ != nullptr; }
  CoreInode& operator*() const { return *inode_; }
  CoreInode* operator->() const { return inode_; }
  CoreInode* get() const { return inode_; }
  void reset();
  /// For a handle that outlives the operation it was made in.
  void detach_from_operation() { operation_ = nullptr; }

 private:
  Volume* volume_ = nullptr;
  CoreInode* inode_ = nullptr;
  Operation* operation_ = nullptr;
};

/// Holds a lock while it lives.
class FiberLockGuard {
 public:
  explicit FiberLockGuard(os::FiberLock& lock) : lock_(lock) { lock_.lock(); }
  FiberLockGuard(const FiberLockGuard&) = delete;
  FiberLockGuard& operator=(const FiberLockGuard&) = delete;
  ~FiberLockGuard() { lock_.unlock(); }

 private:
  os::FiberLock& lock_;
};

/// Holds an inode's lock while it lives.
class InodeLock {
 public:
  InodeLock() = default;
  explicit InodeLock(CoreInode& inode) : inode_(&inode) { inode.lock.lock(); }
  InodeLock(InodeLock&& other) noexcept : inode_(std::exchange(other.inode_, nullptr)) {}
  InodeLock& operator=(InodeLock&& other) noexcept {
    reset();
    inode_ = std::exchange(other.inode_, nullptr);
    return *this;
  }
  ~InodeLock() { reset(); }
  void reset() {
    if (inode_ != nullptr) std::exchange(inode_, nullptr)->lock.unlock();
  }

 private:
  CoreInode* inode_ = nullptr;
};

class Inodes {
 public:
  explicit Inodes(Volume& volume) : volume_(volume) {}

  /// Not locked. `operation`: within which it is removed if this reference turns out to be the last.
  VfsResult<InodeHandle> get(InodeNumber number, Operation* operation);
  /// Another reference to one that is in core.
  InodeHandle share(CoreInode& inode, Operation* operation);
  /// A new one, whose bit has been set: empty, its generation one more than its predecessor's.
  VfsResult<InodeHandle> make(InodeNumber number, Operation* operation);

  void mark_changed(CoreInode& inode);
  /// Copies it to its block, which is given to the caller, held and not yet dirty.
  VfsResult<os::HeldBuffer> copy_to_block(CoreInode& inode);
  VfsResult<void> write_delayed(CoreInode& inode);
  /// Of all that have changed: for sync.
  VfsResult<void> write_all_delayed();
  /// Key of the block where it lies.
  os::BufferKey block_key(InodeNumber number) const;
  std::size_t offset_in_block(InodeNumber number) const;
  std::size_t changed() const;  ///< since they were copied to their blocks
  bool changed(InodeNumber number) const;
  /// In core, allocated, and nobody's name: those that somebody has open.
  std::vector<InodeNumber> without_links() const;
  std::size_t in_core() const { return table_.size(); }
  /// Those nobody refers to, but for the changed ones.
  void forget_idle(std::size_t keep);

 private:
  friend class InodeHandle;
  void put(CoreInode& inode, Operation* operation);
  void remove(CoreInode& inode, Operation* operation);
  VfsResult<os::HeldBuffer> read_block(InodeNumber number);

  Volume& volume_;
  std::map<InodeNumber, std::unique_ptr<CoreInode>> table_;
  std::list<InodeNumber> idle_;  ///< nobody refers to them; longest first
  bool write_back_scheduled_ = false;
};

}  // namespace headcrash::ufs
