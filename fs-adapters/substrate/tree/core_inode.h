#pragma once
// The part of an in-core inode that the tree uses: attributes, references and the lock.
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

/// An operation in progress (InodeStore::change). File systems derive their own operation types
/// from this class.
struct Operation {
  bool sync_failed = false;  ///< the change was made, but is not entirely on the disk
};

/// The result of the last directory search that did not find its name. The search has also looked
/// for free space, as in BSD and SVR4 lookups, so that the creation of the name needs no second
/// pass.
struct MissedName {
  std::string name;
  std::optional<std::int64_t> room;  ///< the first block that has room for the name
  /// The value of CoreInode::entry_changes during the search. The result is valid only while
  /// entry_changes has this value.
  std::uint64_t changes = 0;
};

/// Memory counted for an in-core inode, in addition to what the file system adds
/// (InodeStore::bytes_in_core). An estimate: in 4.4BSD an inode and a vnode take about 200 bytes
/// each, plus their entries in hash tables and free lists.
inline constexpr std::size_t kCoreInodeBytes = 512;

struct CoreInode {
  /// Keeps a reference to `its`, which must outlive this object. The reference is not used here, so
  /// `its` may be constructed later, for example as a member of a derived class.
  CoreInode(os::Executor& executor, InodeNumber its_number, Attributes& its)
      : number(its_number), attributes(its), lock(executor) {}

  InodeNumber number;
  Attributes& attributes;  ///< changed under the lock and reported to InodeStore::mark_changed()
  os::FiberLock lock;
  std::uint32_t references = 0;
  /// Number of links that `attributes` still counts although users no longer see them.
  std::uint32_t deferred_removals = 0;
  std::uint64_t entry_changes = 1;  ///< for a directory: incremented by each change to its entries
  MissedName missed;

  /// The link count that users see.
  std::uint32_t effective_links() const { return attributes.links - deferred_removals; }
};

/// Counts the references to in-core inodes.
class InodeOwner {
 public:
  /// Releases a reference. If the inode has no links and no other references, removes the inode as
  /// part of `operation`, or as part of a new operation if `operation` is null. May wait.
  virtual void put(CoreInode& inode, Operation* operation) = 0;

 protected:
  ~InodeOwner() = default;
};

/// A reference to an in-core inode; `Node` is the file system's type of in-core inodes. The
/// destructor may have to remove the inode, and waits until that is done.
template <typename Node>
class Handle {
 public:
  Handle() = default;
  /// Takes over a reference that has already been counted.
  Handle(InodeOwner& owner, Node& inode, Operation* operation)
      : owner_(&owner), inode_(&inode), operation_(operation) {}
  Handle(Handle&& other) noexcept { *this = std::move(other); }
  /// Converts a handle with the file system's inode type to one with the tree's type.
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
  /// Must be called for each handle that outlives the operation that created the handle.
  void detach_from_operation() { operation_ = nullptr; }

 private:
  template <typename>
  friend class Handle;
  InodeOwner* owner_ = nullptr;
  Node* inode_ = nullptr;
  Operation* operation_ = nullptr;
};
using InodeHandle = Handle<CoreInode>;

class FiberLockGuard {
 public:
  explicit FiberLockGuard(os::FiberLock& lock) : lock_(lock) { lock_.lock(); }
  FiberLockGuard(const FiberLockGuard&) = delete;
  FiberLockGuard& operator=(const FiberLockGuard&) = delete;
  ~FiberLockGuard() { lock_.unlock(); }

 private:
  os::FiberLock& lock_;
};

class InodeLock {
 public:
  InodeLock() = default;
  explicit InodeLock(CoreInode& inode) : inode_(&inode) { inode.lock.lock(); }
  /// Locks an inode that is not yet visible to other fibers. Does not wait.
  static InodeLock of_new(CoreInode& inode) {
    InodeLock lock;
    invariant(inode.lock.try_lock(), "the lock of a new inode must be free");
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
