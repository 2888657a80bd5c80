#pragma once
// Scheduler Chains: each write names the requests that must complete before it (Ganger and Patt
// 1994, section 3.2). A request can name only earlier requests.
//
// The requests that a block must follow are recorded under the block's key, and attached when the
// block is issued: immediately, by the syncer, or to make room. In-core inodes have separate
// records, which move to the inode's block when the inode is copied there. Once records have been
// attached to a write, they are dropped, because later writes of the block follow this one anyway.
//
//   create    inode -> 1              directory block after 1
//   mkdir     its block -> 1          inode after 1 -> 2, parent's inode -> 3, entry after 2 and 3
//   unlink    directory block -> 1    inode (lower count, or cleared) after 1 -> 2
//   rmdir     as unlink; 1 also follows the removal of names that moved out of the directory;
//                                     parent (lower count) after 1
//   rename    new name -> 1, after a new directory's inode
//                                     old name after 1 -> 2, inode and old parent (lower counts)
//                                     after 2
//   init      new block -> 1          inode or indirect block after 1
//   grow      new place -> 1          inode after 1 -> 2, the old place belongs to 2
//
// De-allocation: freed space can be reused at once, but must not reach the disk before the write
// that resets its old pointer. `tracked` keeps the number of that write for each fragment and inode
// while the write is in flight. A new owner's first writes of the block and of its pointer follow
// that write ("we make the newly allocated block itself dependent on the old owner"). If space is
// freed, reused and freed again, only the newest number is kept, because that write followed the
// older one. `barrier` instead lets the driver hold back all later writes.

#include <map>
#include <unordered_map>
#include <vector>

#include "fs-adapters/ufs/format/zero_page.h"
#include "fs-adapters/ufs/schemes/driver_order.h"

namespace headcrash::ufs {

class SchedulerChains : public DriverOrder {
 public:
  SchedulerChains(Volume& volume, const SchemeOptions& options);
  std::string_view name() const override { return "scheduler-chains"; }
  VfsResult<os::HeldBuffer> block_allocated(Operation& operation, const BlockAllocation& allocation,
                                            os::HeldBuffer block) override;
  VfsResult<void> directory_grown(Operation& operation, CoreInode& directory,
                                  std::uint64_t old_size_bytes) override;
  VfsResult<void> blocks_removed(Operation& operation, const BlockRemoval& removal,
                                 os::HeldBuffer holder) override;
  VfsResult<void> link_added(Operation& operation, const LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(Operation& operation, const LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> inode_removed(Operation& operation, const InodeRemoval& removal) override;
  void inode_allocated(InodeNumber number) override;
  void inode_copied(CoreInode& inode, os::HeldBuffer& block) override;
  VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) override;
  VfsResult<void> sync() override;
  std::size_t bytes_in_core() const override;
  bool before_write(os::Outgoing& write) override;

 private:
  /// A list of requests that a later request must follow. When the list has grown, completed
  /// requests are dropped from it. If a request fails, the volume stops, so no later request can
  /// depend on it.
  class After {
   public:
    void add(const os::DiskQueue& disk, os::RequestId id);
    void add(const os::DiskQueue& disk, const After& others);
    const std::vector<os::RequestId>& ids() const { return ids_; }

   private:
    std::vector<os::RequestId> ids_;
    std::size_t prune_at_ = 32;
  };

  os::RequestId sent(os::RequestId id) const;
  VfsResult<os::RequestId> send_inode(tree::CoreInode& inode, bool barrier = false);
  void before_name_removal(const DroppedLink& dropped, const os::BufferKey& block);
  void after_name_removal(const tree::CoreInode& directory, const DroppedLink& dropped,
                          os::RequestId by);
  void freed(const std::vector<Extent>& extents, os::RequestId by);
  After freed_before(const Extent& extent) const;
  void forget_complete();
  bool tracked() const { return options_.deallocation == Deallocation::tracked; }

  std::map<os::BufferKey, After> blocks_;  ///< requests that a block's next write must follow
  /// Once an inode has been copied to its block, the chain of the block's next write must name
  /// these requests.
  std::unordered_map<InodeNumber, After> inodes_;
  /// For each renamed inode, the write of its new name.
  std::unordered_map<InodeNumber, os::RequestId> names_;
  /// For each new directory, the write of its inode.
  std::unordered_map<InodeNumber, os::RequestId> made_;
  /// For each directory, the writes that removed a name from it because the named file had moved to
  /// another directory.
  std::unordered_map<InodeNumber, After> moved_out_;
  /// Writes that moved directories: writes of new names, of ".." entries, and of blocks from which
  /// old names were removed. fsync waits for all of them.
  After paths_;
  std::unordered_map<FragmentAddress, os::RequestId> freed_fragments_;
  std::unordered_map<InodeNumber, os::RequestId> freed_inodes_;
  /// When the maps together have this number of entries, entries of completed requests are dropped.
  std::size_t forget_at_ = 4096;
  /// The requests that must precede the write for which before_write() was last called.
  std::vector<os::RequestId> sent_after_;
  ZeroPage zeroes_;
};

}  // namespace headcrash::ufs
