#pragma once
// Scheduler Flag: what Conventional waits for is sent without waiting, with a flag that forbids the
// driver to let later writes overtake it (Ganger and Patt 1994, section 3.1).
//
// Every write that something later depends on has the flag, which is what `Part` asks for and
// enough for `Full` and `Back`; which of them it means, and whether reads may pass, is the queue's
// (disk_queue.h), whether blocks are locked meanwhile the cache's (-CB). What is freed can be used
// again at once: whatever its new owner writes, it writes later.
//
//   create    inode F, directory's block L          F: asynchronous with the flag; L: the last write of a
//   mkdir     its block F, inode F, parent's F, L      series, LastWrite of the options; D: delayed
//   unlink    directory's block F, inode D, or without links: cleared inode F
//   truncate  indirect blocks that stay F, inode F
//   write     a new indirect block F; with allocation initialization every new block F, as zeroes
//   grow      a fragment that moves: its new place F, inode F
//   rename    inode F, new name F, old name F

#include "fs-adapters/ufs/format/zero_page.h"
#include "fs-adapters/ufs/schemes/driver_order.h"

namespace headcrash::ufs {

class SchedulerFlag : public DriverOrder {
 public:
  SchedulerFlag(Volume& volume, const SchemeOptions& options);
  std::string_view name() const override { return "scheduler-flag"; }
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
  VfsResult<void> fsync(Operation& operation, CoreInode& inode, SyncExtent extent) override;
  VfsResult<void> sync() override;

 private:
  VfsResult<void> send_inode(tree::CoreInode& inode);
  os::RequestId last_path_ =
      0;  ///< the last write of a directory's names that moved it: fsync waits for it
  ZeroPage zeroes_;
};

}  // namespace headcrash::ufs
