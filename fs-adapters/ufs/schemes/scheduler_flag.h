#pragma once
// Scheduler Flag: writes for which Conventional waits are issued asynchronously, with a flag that
// forbids the driver to move later writes ahead of them (Ganger and Patt 1994, section 3.1).
//
// A write has the flag if later writes depend on it. These flags suffice with all three flag
// semantics; with `Part`, each of them is also necessary. The queue determines the semantics, and
// whether reads may bypass flagged writes (disk_queue.h). The cache determines whether blocks are
// locked (-CB). Freed space can be reused at once, because a new owner's writes are later.
//
// In the table, F is an asynchronous write with the flag, D a delayed write, and L the last write
// of a series (option LastWrite).
//
//   create    inode F, directory block L
//   mkdir     its block F, inode F, parent's inode F, parent's block L
//   unlink    directory block F, inode D; without links: cleared inode F
//   truncate  remaining indirect blocks F, inode F
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
  /// The last write that changed the name of a directory. fsync waits for this write.
  os::RequestId last_path_ = 0;
  ZeroPage zeroes_;
};

}  // namespace headcrash::ufs
