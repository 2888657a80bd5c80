#pragma once
// Reads an image at its newest committed generation, or the newest that its intent log has,
// directly from a
// store: for the checker and for oracles, which must not believe what they judge. It shares the
// bytes of the structures (format.h) with the file system, and nothing else. What makes no sense is
// an Error that names the inode; nothing is changed.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/snapfs/format.h"
#include "fs-adapters/snapfs/snapshot_table.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "plugin/model/core/store.h"

namespace headcrash::snapfs {

struct NamedInode {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;  ///< d_type
};

/// What the records of the log say, over what the trees do.
struct LoggedChanges {
  std::size_t records = 0;
  std::map<InodeNumber, std::optional<Inode>> inodes;  ///< nothing: it is not allocated any more
  std::map<BlockAddress, bool> blocks;                 ///< true: in use
  std::map<InodeNumber, bool> numbers;
};

class ImageReader {
 public:
  /// The store must live as long.
  static Result<ImageReader> open(const model::SectorStore& store);
  /// A snapshot that is kept.
  static Result<ImageReader> open_snapshot(const model::SectorStore& store,
                                           const Superblock& newest, const SnapshotEntry& snapshot);

  /// As one of the newest generation that the log has would be; its trees lack what logged() says.
  const Superblock& superblock() const { return s_; }
  const LoggedChanges& logged() const { return logged_; }

  /// Every block of a tree, leaves included, those above before those below; `leaf` is null for a
  /// block of addresses. Stops at the first address that cannot be one, or when `visit` says false.
  using VisitTree =
      std::function<bool(BlockAddress, const std::uint32_t* leaf, std::span<const std::byte>)>;
  Result<void> each_tree_block(BlockAddress root, const TreeShape& shape,
                               const VisitTree& visit) const;

  /// An Error, too, if it is not allocated.
  Result<Inode> inode(InodeNumber number) const;
  /// Nothing: it is not allocated.
  Result<std::optional<Inode>> record(InodeNumber number) const;
  /// The block of the record map that its record is in; 0: none.
  BlockAddress record_block(InodeNumber number) const;
  /// Another number when its record is in another block or another record of the log, which is
  /// known since the image was opened; 0: it has none.
  std::uint64_t place_of(InodeNumber number) const;
  /// Every block that the inode leads to, blocks of addresses before what they map. Level 0:
  /// contents. Stops at the first address that cannot be one, or when `visit` says false.
  struct Block {
    std::uint32_t level = 0;
    std::uint64_t index = 0;  ///< of contents: the file's block
    BlockAddress address = 0;
  };
  Result<void> each_block(const Inode& inode, const std::function<bool(const Block&)>& visit) const;
  /// Of the file's first `blocks` blocks; 0: a hole.
  Result<std::vector<BlockAddress>> addresses(const Inode& inode, std::uint64_t blocks) const;

  /// "." and "..", too; in their order.
  Result<std::vector<NamedInode>> entries(const Inode& directory) const;
  /// Without them.
  Result<std::vector<NamedInode>> names(InodeNumber directory) const;
  Result<Inode> lookup(std::string_view path) const;
  /// Fewer bytes only at the end of the file; holes are zeroes.
  Result<std::size_t> read(const Inode& inode, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(const Inode& inode) const;

  /// Everything below the root, a directory before what is in it; an inode with several names comes
  /// as often.
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
