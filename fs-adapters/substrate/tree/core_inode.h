#pragma once
// An inode in core as the tree sees it, references to it, and its lock.
//
// Who implements InodeStore (inode_store.h) derives an inode of his own from CoreInode, keeps it in
// a table of his, and counts references: each handle is one, and its end is put(). An inode whose
// last link is gone lives until its last handle is put, and is removed then.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/substrate/tree/attributes.h"

namespace headcrash::tree {

/// One operation under way (InodeStore::change). A file system's own derives from it.
struct Operation {
  bool sync_failed = false;  ///< what it changed is there, and not all of it on the disk
};

/// A search of a directory that did not find the name, and what it saw of room for it on its way
/// (BSD's and SVR4's lookups look for both in one pass).
struct MissedName {
  std::string name;
  std::optional<std::int64_t> room;  ///< the first block that has it
  std::uint64_t changes =
      0;  ///< CoreInode::entry_changes when it was made: it holds no longer than that
};

/// What an inode in core counts for in memory, whatever a file system adds to it
/// (InodeStore::bytes_in_core). An estimate: 4.4BSD has an inode and a vnode of some 200 bytes
/// each, and their places in hash and free lists.
inline constexpr std::size_t kCoreInodeBytes = 512;

struct CoreInode {
  /// `its` is kept in core as long as this, which need not have been made yet.
  CoreInode(os::Executor& executor, InodeNumber its_number, Attributes& its)
      : number(its_number), attributes(its), lock(executor) {}

  InodeNumber number;
  Attributes& attributes;  ///< changed under the lock, and told to InodeStore::mark_changed()
  os::FiberLock lock;
  std::uint32_t references = 0;
  std::uint32_t deferred_removals = 0;  ///< links that are gone for users and still counted
  std::uint64_t entry_changes = 1;      ///< a directory: counts them
  MissedName missed;

  /// As users count them.
  std::uint32_t effective_links() const { return attributes.links - deferred_removals; }
};

/// Who counts the references to inodes in core.
class InodeOwner {
 public:
  /// A reference ends. `operation`: within which the inode is removed if it was the last one to an
  /// inode without links; null: in an operation of its own. May wait.
  virtual void put(CoreInode& inode, Operation* operation) = 0;

 protected:
  ~InodeOwner() = default;
};

/// A reference to an inode in core, whose file system calls it a `Node`. Its end may remove the
/// inode, and waits for that.
template <typename Node>
class Handle {
 public:
  Handle() = default;
  /// Takes over a reference that has been counted.
  Handle(InodeOwner& owner, Node& inode, Operation* operation)
      : owner_(&owner), inode_(&inode), operation_(operation) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  /// From a file system's own inode to the tree's.
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
  /// For a handle that outlives the operation it was made in.
  void detach_from_operation() { operation_ = nullptr; }

 private:
  template <typename>
  friend class Handle;
  InodeOwner* owner_ = nullptr;
  Node* inode_ = nullptr;
  Operation* operation_ = nullptr;
};
using InodeHandle = Handle<CoreInode>;

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

}  // namespace headcrash::tree
