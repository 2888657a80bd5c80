#pragma once
// The InodeStore of ufs (tree/inode_store.h): its inodes and blocks, and the hooks of its ordering
// scheme.
//
// If an operation fails with ENOSPC, the scheme does its deferred work, and the operation is run
// once more. It is then repeated as long as the failed attempt has moved a partial last block,
// which temporarily takes both its old and its new place. If an I/O error occurs after an operation
// has changed something, the file system stops (volume.h), because memory then contains a partial
// operation.

#include <memory>
#include <string>

#include "fs-adapters/substrate/tree/inode_store.h"
#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

class TreeStore final : public tree::InodeStore {
 public:
  explicit TreeStore(std::unique_ptr<Volume> volume);
  Volume& volume() { return *volume_; }

  InodeNumber root() const override { return kRootInode; }
  bool is_inode(std::uint64_t number) const override;
  std::uint64_t inodes_max() const override { return volume_->geometry.inodes(); }
  std::uint32_t block_bytes() const override { return volume_->geometry.block_bytes(); }
  std::uint64_t file_bytes_max() const override { return volume_->geometry.file_bytes_max(); }
  std::uint32_t new_directory_bytes() const override { return volume_->geometry.fragment_bytes(); }
  std::uint32_t symlink_bytes_max() const override;
  bool stopped() const override { return volume_->stopped(); }
  bool writes_through() const override { return volume_->syncer.writes_through(); }
  std::uint64_t allocated_bytes(const tree::CoreInode& inode) const override;
  std::size_t bytes_in_core() const override { return volume_->bytes_in_core(); }

  VfsResult<void> change(const std::function<VfsResult<void>(tree::Operation&)>& body) override;

  VfsResult<tree::InodeHandle> get(InodeNumber number, tree::Operation* operation) override;
  tree::InodeHandle share(tree::CoreInode& inode, tree::Operation* operation) override;
  VfsResult<tree::InodeHandle> make(tree::Operation& operation, tree::CoreInode& directory,
                                    bool is_directory) override;
  void mark_changed(tree::CoreInode& inode) override;

  VfsResult<os::HeldBuffer> read_block(tree::CoreInode& inode, std::int64_t block) override;
  VfsResult<os::HeldBuffer> block_for_writing(tree::Operation& operation, tree::CoreInode& inode,
                                              const tree::BlockWanted& wanted) override;
  void write_delayed(os::HeldBuffer buffer) override {
    volume_->cache.write_delayed(std::move(buffer));
  }
  void write_filled(tree::CoreInode& inode, os::HeldBuffer buffer) override {
    volume_->write_behind.write(inode.number, std::move(buffer));
  }
  VfsResult<void> free_blocks(tree::Operation& operation, tree::CoreInode& inode,
                              std::int64_t first, std::int64_t end) override;
  VfsResult<void> set_size(tree::Operation& operation, tree::CoreInode& inode,
                           std::uint64_t size_bytes) override;
  /// Extends a directory by empty chunks: to the end of its last fragment, by one fragment, or by a
  /// new block.
  VfsResult<std::int64_t> grow_directory(tree::Operation& operation,
                                         tree::CoreInode& directory) override;

  /// Stores the target of a symbolic link. A short target is stored in the inode, in place of its
  /// pointers.
  VfsResult<void> write_target(tree::Operation& operation, tree::CoreInode& link,
                               std::string_view target) override;
  VfsResult<std::string> read_target(tree::CoreInode& link) override;

  VfsResult<void> link_added(tree::Operation& operation, const tree::LinkAddition& addition,
                             os::HeldBuffer directory_block) override;
  VfsResult<void> link_removed(tree::Operation& operation, const tree::LinkRemoval& removal,
                               os::HeldBuffer directory_block) override;
  VfsResult<void> settle_name(tree::Operation& operation, tree::CoreInode& inode) override;
  void directory_moved(tree::CoreInode& directory) override {
    volume_->names.moved(directory.number);
  }

  VfsResult<void> fsync(tree::Operation& operation, tree::CoreInode& inode,
                        tree::SyncExtent extent) override;

 private:
  std::unique_ptr<Volume> volume_;
};

}  // namespace headcrash::ufs
