#pragma once
// No Order: all metadata writes are delayed, and everything that is freed can be reused at once.
// None of the rules is followed. The scheme is therefore an upper bound for the speed of metadata
// updates, and also the control in every crash test (Ganger and Patt 1994, section 5; the delayed
// mount option of Ohta and Tezuka 1990).

#include "fs-adapters/ufs/schemes/scheme.h"

namespace headcrash::ufs {

class NoOrder : public Scheme {
 public:
  using Scheme::Scheme;
  std::string_view name() const override { return "no-order"; }
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
};

}  // namespace headcrash::ufs
