#pragma once
// A dependency graph of whole blocks, as in section 4.1 of Ganger and Patt 1994.
//
// In the authors' first attempt, each dirty block was delayed until the blocks on which it depends
// had been written. Here no block waits, and all writes are delayed as in No Order. The graph is
// only recorded, and its effects are counted:
//
//   create   the directory's block waits for the inode's block
//   block    the block of a pointer waits for the block to which it points
//   remove   the inode's block waits for the directory's block
//   free     the map's block waits for the pointer's block
//
// An inode block contains 32 inodes, and a directory block contains many names. Unrelated creations
// and removals thus wait for each other and form cycles, which require a synchronous write. An edge
// that would close a cycle is counted, but not added. A write of a block that still waits for
// another block counts as a delayed write (aging).

#include <map>
#include <set>

#include "fs-adapters/ufs/schemes/no_order.h"

namespace headcrash::experiment {

class CoarseDependencies : public ufs::NoOrder {
 public:
  using NoOrder::NoOrder;
  std::string_view name() const override { return "coarse-dependencies"; }

  struct Counters {
    /// Number of distinct edges: several edges between the same two blocks count once.
    std::uint64_t dependencies = 0;
    /// Number of edges that were not added because they would have closed a cycle.
    std::uint64_t cycles = 0;
    std::uint64_t writes = 0;  ///< number of writes of metadata blocks
    std::uint64_t writes_put_off = 0;
  };
  const Counters& counters() const { return counters_; }

  VfsResult<os::HeldBuffer> block_allocated(ufs::Operation& operation,
                                            const ufs::BlockAllocation& allocation,
                                            os::HeldBuffer block) override;
  VfsResult<void> blocks_removed(ufs::Operation& operation, const ufs::BlockRemoval& removal,
                                 os::HeldBuffer holder) override;
  VfsResult<void> link_added(ufs::Operation& operation, const ufs::LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(ufs::Operation& operation, const ufs::LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> inode_removed(ufs::Operation& operation,
                                const ufs::InodeRemoval& removal) override;
  bool before_write(os::Outgoing& write) override;
  void after_write(const os::BufferKey& key, os::RequestId id, model::Status status) override;

 private:
  os::BufferKey block_of_inode(const tree::CoreInode& inode) const;
  void wait_for(const os::BufferKey& later, const os::BufferKey& earlier);
  void maps_wait_for(const std::vector<ufs::Extent>& extents, const os::BufferKey& earlier);
  bool leads_to(const os::BufferKey& from, const os::BufferKey& to) const;
  void forget(const os::BufferKey& key);
  void forget_blocks_of(ufs::InodeNumber number);

  std::set<os::BufferKey> metadata_;  ///< all blocks that have ever been in the graph
  std::map<os::BufferKey, std::set<os::BufferKey>> waits_for_;
  Counters counters_;
};

}  // namespace headcrash::experiment
