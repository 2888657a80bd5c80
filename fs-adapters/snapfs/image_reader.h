#pragma once
// Reads an unmounted image, for the checker and for oracles. The reader shows the newest committed
// generation or, if the intent log has newer ones, the newest generation in the log. The reader
// shares only the encoding (format.h) with the mounted file system, and never writes. The image is
// untrusted; errors name the damaged inode.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/image_tree.h"
#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/snapfs/snapshot_table.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

using adapters::NamedInode;

/// Changes recorded in the log. They take precedence over the trees.
struct LoggedChanges {
  std::size_t records = 0;
  /// Nullopt if the inode is no longer allocated.
  std::map<InodeNumber, std::optional<Inode>> inodes;
  std::map<BlockAddress, bool> blocks;  ///< true if in use
  std::map<InodeNumber, bool> numbers;
};

class ImageReader {
 public:
  /// The store must outlive the reader.
  static Result<ImageReader> open(const model::SectorStore& store);
  static Result<ImageReader> open_snapshot(const model::SectorStore& store,
                                           const Superblock& newest, const SnapshotEntry& snapshot);

  /// Returns the superblock of the newest generation in the log. Its trees do not contain the
  /// changes in logged().
  const Superblock& superblock() const { return s_; }
  const LoggedChanges& logged() const { return logged_; }

  /// Visits every block of a tree, parents first, including the leaves; `leaf` is null for an
  /// address block. Stops at the first invalid address, or when `visit` returns false.
  using VisitTree =
      std::function<bool(BlockAddress, const std::uint32_t* leaf, std::span<const std::byte>)>;
  Result<void> each_tree_block(BlockAddress root, const TreeShape& shape,
                               const VisitTree& visit) const;

  /// Returns an inode. Fails if the inode is damaged or not allocated.
  Result<Inode> inode(InodeNumber number) const;
  /// Returns nullopt if the inode is not allocated.
  Result<std::optional<Inode>> record(InodeNumber number) const;
  /// Returns the block of the record map that contains the inode's record; 0 if there is no such
  /// block.
  BlockAddress record_block(InodeNumber number) const;
  /// Returns a number that changes when the inode's record moves to another block or to another log
  /// record. Returns 0 if the inode has no record. Uses only data that open() has read.
  std::uint64_t place_of(InodeNumber number) const;
  /// Visits every block of the inode, each address block before the blocks to which it leads. Level
  /// 0 is file content. Stops at the first invalid address, or when `visit` returns false.
  struct Block {
    std::uint32_t level = 0;
    std::uint64_t index = 0;  ///< for content: number of the block within the file
    BlockAddress address = 0;
  };
  Result<void> each_block(const Inode& inode, const std::function<bool(const Block&)>& visit) const;
  /// Returns the addresses of the file's first `blocks` blocks; 0 for a hole.
  Result<std::vector<BlockAddress>> addresses(const Inode& inode, std::uint64_t blocks) const;

  /// Returns all entries in order, including "." and "..".
  Result<std::vector<NamedInode>> entries(const Inode& directory) const;
  /// Returns the entries except "." and "..".
  Result<std::vector<NamedInode>> names(InodeNumber directory) const;
  Result<Inode> lookup(std::string_view path) const;
  /// Reads at `offset`. Returns fewer bytes than requested only at the end of the file. Holes read
  /// as zeroes.
  Result<std::size_t> read(const Inode& inode, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(const Inode& inode) const;

  /// Visits everything below the root, each directory before its contents. An inode with several
  /// names is visited once per name.
  struct Found {
    std::string path;
    Inode inode;
  };
  Result<void> walk(const std::function<void(const Found&)>& visit) const;

 private:
  ImageReader(const model::SectorStore& store, const Superblock& superblock)
      : store_(&store), s_(superblock), record_blocks_(superblock.record_tree().leaves) {}
  Result<void> read_log();
  void find_record_blocks(BlockAddress at, const TreeShape& shape, std::uint32_t level,
                          std::uint64_t first_leaf);
  Result<std::vector<std::byte>> block_at(BlockAddress address) const;
  Result<BlockAddress> address_of(const Inode& inode, std::uint64_t block) const;
  Result<bool> visit_tree(BlockAddress at, const TreeShape& shape, std::uint32_t level,
                          std::uint32_t first_leaf, const VisitTree& visit) const;
  Result<bool> visit_below(const Inode& inode, const Block& block, tree::BlockBudget& budget,
                           const std::function<bool(const Block&)>& visit) const;

  const model::SectorStore* store_;
  Superblock s_;
  std::vector<BlockAddress> record_blocks_;
  LoggedChanges logged_;
};

}  // namespace headcrash::snapfs
