#pragma once
// Conventional: the caller waits for every write that something later depends on, and only then
// continues (Ganger and Patt 1994, sections 1 and 6.1; the Berkeley fast file system).
//
//   create    inode S, directory's block L                S: synchronous   L: the last write of a series,
//   mkdir     its block S, inode S, parent's inode S,        LastWrite of the options: delayed in the paper's
//             parent's block L                               words, synchronous in 4.4BSD; D: delayed
//   link      inode S, directory's block L
//   unlink    directory's block S, inode D, or without links: cleared inode S, then the bitmaps D
//   truncate  indirect blocks that stay S, inode S, then the bitmaps D
//   write     pointers D; a new indirect block S before what points to it; with allocation initialization
//             every new block S, as zeroes, before its pointer
//   grow      a fragment that moves: its new place S, inode S, then the bitmaps D
//   rename    inode S, new name S, old name S, inode D
//
// A directory that grows: new block S, inode S, before an entry is put into it.

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
