#pragma once
// A store's in-core inodes. An inode is loaded when it is first used; unreferenced inodes are kept
// up to a limit.
//
// Threads: only the executor's.

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>

#include "fs-adapters/substrate/os/linked_list.h"
#include "fs-adapters/substrate/tree/core_inode.h"
#include "fs-adapters/vfs.h"

namespace headcrash::tree {

/// An inode in an InodeTable. Stores derive their own type from it.
struct TableInode : CoreInode {
  using CoreInode::CoreInode;
  virtual ~TableInode() = default;

  bool loading = false;         ///< a fiber is reading the inode from the disk
  os::Links<TableInode> links;  ///< links of InodeTable::idle_
};

class InodeTable {
 public:
  /// Returns an inode of the store's type, without contents.
  using Create = std::function<std::unique_ptr<TableInode>(InodeNumber)>;
  /// Reads the contents of an inode from the disk. May wait.
  using Load = std::function<VfsResult<void>(TableInode&)>;
  InodeTable(os::Executor& executor, Create create, Load load);

  /// Returns the inode, with one more reference. Loads it if it is not in core, or waits while
  /// another fiber loads it. Fails as Load does; the inode is then not in core.
  VfsResult<TableInode*> get(InodeNumber number);
  /// Adds a new inode, with one reference. REQUIRES: the inode is not in core.
  TableInode& add(InodeNumber number);
  /// Counts one more reference.
  void refer(TableInode& inode);
  /// Adds an unreferenced inode to the idle inodes, of which only the newest are kept. REQUIRES:
  /// the inode is equal to its copy on the disk, or the store keeps its contents elsewhere.
  void make_idle(TableInode& inode);
  void forget_idle(std::size_t keep);
  /// Destroys the inode if it is in core.
  void erase(InodeNumber number);

  /// Returns null if the inode is not in core. Does not count a reference.
  TableInode* find(InodeNumber number) const;
  bool contains(InodeNumber number) const { return inodes_.contains(number); }
  std::size_t size() const { return inodes_.size(); }

 private:
  using List = os::LinkedList<TableInode, &TableInode::links>;

  void end_idleness(TableInode& inode);

  const Create create_;
  const Load load_;
  std::unordered_map<InodeNumber, std::unique_ptr<TableInode>> inodes_;
  List idle_;  ///< least recently used first
  std::size_t idle_count_ = 0;
  os::WaitQueue loaded_;
};

}  // namespace headcrash::tree
