#pragma once
// In-core inodes: copies on which operations work, separate from the inode blocks in the cache.
//
// An inode is loaded on first use. It is copied back to its block when it is changed and
// unreferenced, when a scheme needs it on the disk, by fsync and sync, and at the latest half a
// minute after a change. Unreferenced inodes are kept up to a limit. An inode without links lives
// until its last user releases it, which then removes it (scheme.h, 4b).

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/substrate/os/linked_list.h"
#include "fs-adapters/substrate/tree/core_inode.h"
#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/vfs.h"

namespace headcrash::ufs {

class Volume;
struct Operation;

struct CoreInode : tree::CoreInode {
  CoreInode(os::Executor& executor, InodeNumber its_number)
      : tree::CoreInode(executor, its_number, disk) {}

  Inode disk;
  bool loaded = false;
  std::int64_t next_sequential = 0;  ///< the block that a sequential reader would read next
  /// Last block allocated since the inode was loaded; 0 if no block was allocated.
  FragmentAddress last_allocated = 0;
  std::uint16_t links_tagged = 0;  ///< Netra: the link count that matches its link tags
  /// A regular file's bmap cache, with the feature bmap_cache. While it is empty, the inode's cache
  /// on the disk has no pointers in use either.
  BmapCache bmap = {};
  os::Links<CoreInode> in_list;  ///< belongs to used_ or idle_ in Inodes
};

/// Converts a tree inode; all in-core inodes of a volume have this type.
inline CoreInode& core(tree::CoreInode& inode) {
  return static_cast<CoreInode&>(inode);
}

using InodeHandle = tree::Handle<CoreInode>;
using tree::InodeLock;

class Inodes final : public tree::InodeOwner {
 public:
  explicit Inodes(Volume& volume) : volume_(volume) {}

  /// Returns an inode, not locked. If the handle later ends the last reference to an inode without
  /// links, the inode is removed within `operation`.
  VfsResult<InodeHandle> get(InodeNumber number, Operation* operation);
  /// Returns another reference to an in-core inode.
  InodeHandle share(tree::CoreInode& inode, Operation* operation);
  /// Returns a new, empty inode. Its bit in the map must already be set. The generation is one
  /// above that of the previous inode with this number.
  VfsResult<InodeHandle> make(InodeNumber number, Operation* operation);

  /// `operation` must be of this volume's type.
  void put(tree::CoreInode& inode, tree::Operation* operation) override;

  void mark_changed(tree::CoreInode& inode);
  /// Copies the inode to its block. Returns the block, held and not yet dirty.
  VfsResult<os::HeldBuffer> copy_to_block(tree::CoreInode& inode);
  VfsResult<void> write_delayed(tree::CoreInode& inode);
  /// Copies all changed inodes to their blocks and marks the blocks dirty, for sync.
  VfsResult<void> write_all_delayed();
  /// The key of the block that contains the inode.
  os::BufferKey block_key(InodeNumber number) const;
  std::size_t offset_in_block(InodeNumber number) const;
  /// Number of inodes changed since they were last copied to their blocks.
  std::size_t changed() const { return changed_.size(); }
  bool changed(InodeNumber number) const { return changed_.contains(number); }
  /// Returns the numbers of in-core inodes that are allocated but have no links, because they are
  /// still open.
  std::vector<InodeNumber> without_links() const;
  /// Returns true if without_links() would include this inode.
  bool without_links(InodeNumber number) const;
  std::size_t in_core() const { return table_.size(); }
  /// Drops unreferenced, unchanged inodes until at most `keep` of them are left.
  void forget_idle(std::size_t keep);

 private:
  void remove(CoreInode& inode, Operation* operation);
  VfsResult<os::HeldBuffer> read_block(InodeNumber number);

  Volume& volume_;
  std::unordered_map<InodeNumber, std::unique_ptr<CoreInode>> table_;
  std::set<InodeNumber> changed_;  ///< inodes that differ from the copy in their block
  using List = os::LinkedList<CoreInode, &CoreInode::in_list>;
  List used_;  ///< referenced
  List idle_;  ///< unreferenced; least recently used first
  std::size_t idle_count_ = 0;
  bool write_back_scheduled_ = false;
};

}  // namespace headcrash::ufs
