#pragma once
// An in-core inode as the tree sees it, references to it, and its lock.
//
// An implementation of InodeStore (inode_store.h) derives its inode from CoreInode, keeps it in a
// table, and counts references. Each Handle is one reference and ends with put(). An inode without
// links lives until its last handle is put, and is then removed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/substrate/tree/attributes.h"
#include "plugin/base/invariant.h"

namespace headcrash::tree {

/// One operation in progress (InodeStore::change). File systems derive from it.
struct Operation {
  bool sync_failed = false;  ///< the change was made, but is not entirely on the disk
};

/// The result of a directory search that did not find the name. It includes the free space found in
/// the same pass, as in BSD and SVR4 lookups.
struct MissedName {
  std::string name;
  std::optional<std::int64_t> room;  ///< first block with room
  /// CoreInode::entry_changes at the time of the search; any change invalidates the result.
  std::uint64_t changes = 0;
};

/// Memory counted for an in-core inode, without what a file system adds
/// (InodeStore::bytes_in_core). An estimate: in 4.4BSD an inode and a vnode take about 200 bytes
/// each, plus their places in hash and free lists.
inline constexpr std::size_t kCoreInodeBytes = 512;

struct CoreInode {
  /// Keeps a reference to `its`, which must outlive this object but need not have been constructed
  /// yet.
  CoreInode(os::Executor& executor, InodeNumber its_number, Attributes& its)
      : number(its_number), attributes(its), lock(executor) {}

  InodeNumber number;
  Attributes& attributes;  ///< changed under the lock and reported to InodeStore::mark_changed()
  os::FiberLock lock;
  std::uint32_t references = 0;
  /// Links already removed from the users' view, but still counted in `attributes`.
  std::uint32_t deferred_removals = 0;
  std::uint64_t entry_changes = 1;  ///< for directories: number of changes to entries
  MissedName missed;

  /// The link count that users see.
  std::uint32_t effective_links() const { return attributes.links - deferred_removals; }
};

/// Counts the references to in-core inodes.
class InodeOwner {
 public:
  /// Ends a reference. If it was the last one to an inode without links, removes the inode within
  /// `operation`, or in a new operation if null. May wait.
  virtual void put(CoreInode& inode, Operation* operation) = 0;

 protected:
  ~InodeOwner() = default;
};

/// A reference to an in-core inode; `Node` is its type in the file system. The destructor may
/// remove the inode, and waits for that.
template <typename Node>
class Handle {
 public:
  Handle() = default;
  /// Takes over a reference that has already been counted.
  Handle(InodeOwner& owner, Node& inode, Operation* operation)
      : owner_(&owner), inode_(&inode), operation_(operation) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  /// Converts from a file system's inode to the tree's.
  template <typename Other, typename = std::enable_if_t<std::is_base_of_v<Node, Other>>>
  Handle(Handle<Other>&& other) noexcept  // NOLINT(google-explicit-constructor)
      : owner_(other.owner_),
        inode_(std::exchange(other.inode_, nullptr)),
        operation_(other.operation_) {}
  Handle& operator=(Handle&& other) noexcept {
    reset();
    owner_ = other.owner_;
    operation_ = other.operation_;
    inode_ = std::exchange(other.inode_, nullptr);
    return *this;
  }
  ~Handle() { reset(); }

  explicit operator bool() const { return inode_ != nullptr; }
  Node& operator*() const { return *inode_; }
  Node* operator->() const { return inode_; }
  Node* get() const { return inode_; }
  void reset() {
    Node* inode = std::exchange(inode_, nullptr);
    if (inode != nullptr) owner_->put(*inode, operation_);
  }
  /// For a handle that outlives its operation.
  void detach_from_operation() { operation_ = nullptr; }

 private:
  template <typename>
  friend class Handle;
  InodeOwner* owner_ = nullptr;
  Node* inode_ = nullptr;
  Operation* operation_ = nullptr;
};
using InodeHandle = Handle<CoreInode>;

/// Holds a lock for its lifetime.
class FiberLockGuard {
 public:
  explicit FiberLockGuard(os::FiberLock& lock) : lock_(lock) { lock_.lock(); }
  FiberLockGuard(const FiberLockGuard&) = delete;
  FiberLockGuard& operator=(const FiberLockGuard&) = delete;
  ~FiberLockGuard() { lock_.unlock(); }

 private:
  os::FiberLock& lock_;
};

/// Holds an inode's lock for its lifetime.
class InodeLock {
 public:
  InodeLock() = default;
  explicit InodeLock(CoreInode& inode) : inode_(&inode) { inode.lock.lock(); }
  /// Locks an inode that is not yet visible to other fibers. Does not wait.
  static InodeLock of_new(CoreInode& inode) {
    InodeLock lock;
    invariant(inode.lock.try_lock(), "a new inode is locked");
    lock.inode_ = &inode;
    return lock;
  }
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

}  // namespace headcrash::tree
