#pragma once
// Inodes in core: what operations work on, apart from the blocks they came from.
//
// An inode is brought in core when somebody asks for it, and copied back to its block when it has
// changed and nobody refers to it any more, when a scheme wants it on the disk, at fsync and sync,
// and half a minute after its change at the latest. Those that nobody refers to stay until there
// are too many. An inode whose last link is gone lives until its last user leaves, who then removes
// it (scheme.h, 4b).

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
  std::int64_t next_sequential = 0;    ///< the block that a sequential reader would ask for next
  FragmentAddress last_allocated = 0;  ///< since it is in core; 0: nothing
  std::uint16_t links_tagged = 0;      ///< Netra: the count that its link tags go with
  /// Of a regular file where there are such caches. While it is empty the inode on the disk has
  /// none, either, whose pointers lead anywhere.
  BmapCache bmap = {};
  os::Links<CoreInode> in_list;  ///< of Inodes: used_ or idle_
};

/// Every inode in core that a volume's tree knows is one.
inline CoreInode& core(tree::CoreInode& inode) {
  return static_cast<CoreInode&>(inode);
}

using InodeHandle = tree::Handle<CoreInode>;
using tree::InodeLock;

class Inodes final : public tree::InodeOwner {
 public:
  explicit Inodes(Volume& volume) : volume_(volume) {}

  /// Not locked. `operation`: within which it is removed if this reference turns out to be the
  /// last.
  VfsResult<InodeHandle> get(InodeNumber number, Operation* operation);
  /// Another reference to one that is in core.
  InodeHandle share(tree::CoreInode& inode, Operation* operation);
  /// A new one, whose bit has been set: empty, its generation one more than its predecessor's.
  VfsResult<InodeHandle> make(InodeNumber number, Operation* operation);

  /// Operation: this volume's own type.
  void put(tree::CoreInode& inode, tree::Operation* operation) override;

  void mark_changed(tree::CoreInode& inode);
  /// Copies it to its block, which is given to the caller, held and not yet dirty.
  VfsResult<os::HeldBuffer> copy_to_block(tree::CoreInode& inode);
  VfsResult<void> write_delayed(tree::CoreInode& inode);
  /// Of all that have changed: for sync.
  VfsResult<void> write_all_delayed();
  /// Key of the block where it lies.
  os::BufferKey block_key(InodeNumber number) const;
  std::size_t offset_in_block(InodeNumber number) const;
  /// Since they were copied to their blocks.
  std::size_t changed() const { return changed_.size(); }
  bool changed(InodeNumber number) const { return changed_.contains(number); }
  /// In core, allocated, and nobody's name: those that somebody has open.
  std::vector<InodeNumber> without_links() const;
  bool without_links(InodeNumber number) const;  ///< it is one of them
  std::size_t in_core() const { return table_.size(); }
  /// Those nobody refers to, but for the changed ones.
  void forget_idle(std::size_t keep);

 private:
  void remove(CoreInode& inode, Operation* operation);
  VfsResult<os::HeldBuffer> read_block(InodeNumber number);

  Volume& volume_;
  std::unordered_map<InodeNumber, std::unique_ptr<CoreInode>> table_;
  std::set<InodeNumber> changed_;  ///< those that differ from the copy in their block
  using List = os::LinkedList<CoreInode, &CoreInode::in_list>;
  List used_;  ///< somebody refers to them
  List idle_;  ///< nobody does; longest first
  std::size_t idle_count_ = 0;
  bool write_back_scheduled_ = false;
};

}  // namespace headcrash::ufs
