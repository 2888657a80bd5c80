#pragma once
// Scheduler Chains: each write names the requests that must be complete before it (Ganger and Patt
// 1994, section 3.2). A request can name only those that were issued before it.
//
// What a block must come after is noted under the block's name and attached when the block is
// issued, by
// whomever: at once, by the syncer, by who needs its buffer. An in-core inode has notes of its own,
// which become its block's when it is copied there. Once attached they are forgotten: later writes
// of the same block come after this one anyway.
//
//   create    inode -> 1              directory's block after 1
//   mkdir     its block -> 1          inode after 1 -> 2, parent's inode -> 3, entry after 2 and 3
//   unlink    directory's block -> 1  inode (lower count, or cleared) after 1 -> 2
//   rmdir     as unlink, 1 after the removal of names that have moved out of it; parent (lower count) after 1
//   rename    new name -> 1, after a new directory's inode
//                                     old name after 1 -> 2, inode and old parent (lower counts)
//                                     after 2
//   init      new block -> 1          inode or indirect block after 1
//   grow      new place -> 1          inode after 1 -> 2, the old place belongs to 2
//
// De-allocation: what is freed can be used again at once, but not reach the disk before the write
// that resets the old pointer to it has. `tracked` keeps, for each fragment and inode, the number
// of that write while it is under way; a new owner's first write of the block and of its pointer
// come after it ("we make the newly allocated block itself dependent on the old owner"). Freed,
// used and freed again: the newest number stays, since that write came after the older one.
// `barrier` lets the driver hold back all later writes instead.

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
  /// Requests that something must come after. Complete ones are dropped when the list has grown;
  /// when one has failed the volume is stopped, and nothing is left that could come after it.
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
  void name_goes(const DroppedLink& dropped, const os::BufferKey& block);
  void name_gone(const tree::CoreInode& directory, const DroppedLink& dropped, os::RequestId by);
  void freed(const std::vector<Extent>& extents, os::RequestId by);
  After freed_before(const Extent& extent) const;
  void forget_complete();
  bool tracked() const { return options_.deallocation == Deallocation::tracked; }

  std::map<os::BufferKey, After> blocks_;          ///< what a block's next write must come after
  std::unordered_map<InodeNumber, After> inodes_;  ///< what an inode's next copy must come after
  std::unordered_map<InodeNumber, os::RequestId> names_;  ///< a renamed inode's new name
  std::unordered_map<InodeNumber, os::RequestId> made_;   ///< a new directory's inode
  std::unordered_map<InodeNumber, After>
      moved_out_;  ///< of a directory: names taken out that are elsewhere
  After
      paths_;  ///< writes of a directory's new name, its "..", its old name: fsync waits for all of them
  std::unordered_map<FragmentAddress, os::RequestId> freed_fragments_;
  std::unordered_map<InodeNumber, os::RequestId> freed_inodes_;
  std::size_t forget_at_ = 4096;  ///< entries of the tables at which complete ones are looked for
  std::vector<os::RequestId> sent_after_;  ///< of the write that before_write() has just seen
  ZeroPage zeroes_;
};

}  // namespace headcrash::ufs
