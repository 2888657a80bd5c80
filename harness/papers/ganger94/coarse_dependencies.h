#pragma once
// What became of a dependency graph of whole blocks: section 4.1 of Ganger and Patt 1994.
//
// Their first attempt held each dirty block back until those that it depends on were written.
// Nothing is held back here, all writes are delayed as in No Order; the graph is only drawn, and
// what would have happened to it is counted:
//
//   create   the directory's block waits for the inode's
//   block    whatever points to it waits for it
//   remove   the inode's block waits for the directory's
//   free     the map's block waits for the pointer's
//
// An inode's block holds 32 inodes and a directory's block many names, so that a creation and a
// removal that have nothing to do with each other wait for each other: a cycle, which somebody has
// to break by a synchronous write. The edge that would close one is counted and left out. A write
// of a block that still waits for another one is a write that would have been put off (aging).

#include <map>
#include <set>

#include "fs-adapters/ufs/schemes/no_order.h"

namespace headcrash::experiment {

class CoarseDependencies : public ufs::NoOrder {
 public:
  using NoOrder::NoOrder;
  std::string_view name() const override { return "coarse-dependencies"; }

  struct Counters {
    std::uint64_t dependencies = 0;  ///< between two blocks; the same again does not count
    std::uint64_t cycles = 0;        ///< of these, closing one
    std::uint64_t writes = 0;        ///< of blocks of metadata
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

  std::set<os::BufferKey> metadata_;  ///< all blocks that were ever in the graph
  std::map<os::BufferKey, std::set<os::BufferKey>> waits_for_;
  Counters counters_;
};

}  // namespace headcrash::experiment
