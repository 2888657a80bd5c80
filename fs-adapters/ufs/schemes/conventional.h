#pragma once
// Conventional: a caller waits for each write on which later writes depend (Ganger and Patt 1994,
// sections 1 and 6.1; the Berkeley fast file system).
//
// In the table, S is a synchronous write, D a delayed write, and L the last write of a series. The
// option LastWrite determines how L is issued: delayed in the paper, synchronous in 4.4BSD.
//
//   create    inode S, directory block L
//   mkdir     its block S, inode S, parent's inode S, parent's block L
//   link      inode S, directory block L
//   unlink    directory block S, inode D; without links: cleared inode S, then bitmaps D
//   truncate  remaining indirect blocks S, inode S, then bitmaps D
//   write     pointers D; a new indirect block S before the pointer to it; with allocation
//             initialization every new block S, as zeroes, before its pointer
//   grow      a fragment that moves: its new place S, inode S, then bitmaps D
//   rename    inode S, new name S, old name S, inode D
//
// If a directory must grow, its new block and then its inode are written (S) before an entry is
// added.

#include "fs-adapters/ufs/format/zero_page.h"
#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

class Conventional : public Scheme {
 public:
  Conventional(Volume& volume, const SchemeOptions& options);
  std::string_view name() const override { return "conventional"; }
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

 protected:
  VfsResult<void> write_inode(tree::CoreInode& inode);

 private:
  ZeroPage zeroes_;
};

}  // namespace headcrash::ufs
