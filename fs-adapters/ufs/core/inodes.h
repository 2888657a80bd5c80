#pragma once
// In-core inodes: the copies with which operations work, separate from the inode blocks in the
// cache.
//
// An inode is loaded when it is first used. A changed inode is copied back to its block at the
// latest half a minute after a change. It is copied earlier when its last reference ends, when a
// scheme needs it on the disk, or when an fsync or a sync runs. Unreferenced inodes are kept up to
// a limit. An inode without links lives until its last user releases it; it is then removed
// (scheme.h, 4b).

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
  /// The block after the last one read; used to detect sequential reads.
  std::int64_t next_sequential = 0;
  /// The block that was most recently allocated to the file since the inode was loaded; 0 if none
  /// has been allocated.
  FragmentAddress last_allocated = 0;
  std::uint16_t links_tagged = 0;  ///< for Netra: the link count to which the inode's tags apply
  /// A regular file's bmap cache (feature bmap_cache). Empty if the file uses no pointers from the
  /// cache on the disk.
  BmapCache bmap = {};
  os::Links<CoreInode> in_list;  ///< links of Inodes::used_ or Inodes::idle_
};

/// Converts an inode of the tree to ufs's type; all in-core inodes of a volume have this type.
inline CoreInode& core(tree::CoreInode& inode) {
  return static_cast<CoreInode&>(inode);
}

using InodeHandle = tree::Handle<CoreInode>;
using tree::InodeLock;

class Inodes final : public tree::InodeOwner {
 public:
  explicit Inodes(Volume& volume) : volume_(volume) {}

  /// Returns an inode without locking it. If the returned handle becomes the last reference to an
  /// inode without links, releasing the handle removes the inode as part of `operation`.
  VfsResult<InodeHandle> get(InodeNumber number, Operation* operation);
  /// Returns another reference to an in-core inode.
  InodeHandle share(tree::CoreInode& inode, Operation* operation);
  /// Returns a new, empty inode. The inode's bit in the map must already be set. The new inode's
  /// generation is one more than that of the previous inode with this number.
  VfsResult<InodeHandle> make(InodeNumber number, Operation* operation);

  /// `operation` must be a ufs::Operation.
  void put(tree::CoreInode& inode, tree::Operation* operation) override;

  void mark_changed(tree::CoreInode& inode);
  /// Copies the inode to its block. Returns the block's buffer, held and not marked dirty yet.
  VfsResult<os::HeldBuffer> copy_to_block(tree::CoreInode& inode);
  VfsResult<void> write_delayed(tree::CoreInode& inode);
  /// For sync: copies all changed inodes to their blocks, and marks these blocks dirty.
  VfsResult<void> write_all_delayed();
  /// Returns the key of the buffer for the block that contains the inode.
  os::BufferKey block_key(InodeNumber number) const;
  std::size_t offset_in_block(InodeNumber number) const;
  /// Returns the number of inodes that differ from the copies in their blocks.
  std::size_t changed() const { return changed_.size(); }
  bool changed(InodeNumber number) const { return changed_.contains(number); }
  /// Returns the numbers of in-core inodes that have no links but are still allocated, because they
  /// are open.
  std::vector<InodeNumber> without_links() const;
  /// Returns true if without_links() would include this inode.
  bool without_links(InodeNumber number) const;
  std::size_t in_core() const { return table_.size(); }
  /// Drops unreferenced and unchanged inodes until at most `keep` unreferenced ones are left.
  void forget_idle(std::size_t keep);

 private:
  void remove(CoreInode& inode, Operation* operation);
  VfsResult<os::HeldBuffer> read_block(InodeNumber number);

  Volume& volume_;
  std::unordered_map<InodeNumber, std::unique_ptr<CoreInode>> table_;
  std::set<InodeNumber> changed_;  ///< inodes that differ from the copy in their block
  using List = os::LinkedList<CoreInode, &CoreInode::in_list>;
  List used_;  ///< referenced
  List idle_;  ///< unreferenced inodes, least recently used first
  std::size_t idle_count_ = 0;
  bool write_back_scheduled_ = false;
};

}  // namespace headcrash::ufs
