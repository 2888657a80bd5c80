#pragma once
// Reads an unmounted image at its newest checkpoint, for the checker and for oracles. The reader
// shares only the encoding (format.h) with the mounted file system, and never writes. The image is
// untrusted; errors name the damaged inode.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/image_tree.h"
#include "fs-adapters/lfs/contents.h"
#include "fs-adapters/lfs/format.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

using adapters::NamedInode;

class ImageReader {
 public:
  /// Opens an image, and reads its map and usage table. The store must outlive the reader.
  /// `contents` has the digests of the store, which refresh() uses to find out what has changed.
  static Result<ImageReader> open(const model::SectorStore& store, const Contents& contents = {});
  /// Rereads the store, except for those blocks of the map and the usage table that `contents`
  /// shows to be unchanged. Returns true if anything has changed. Fails in the same cases as
  /// open(), and if the superblock has changed. The reader must not be used after an Error.
  Result<bool> refresh(const Contents& contents);

  const Superblock& superblock() const { return superblock_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  const std::vector<MapEntry>& map() const { return map_; }
  /// Returns the usage table. The live bytes in its entries do not include the table's own blocks.
  const std::vector<SegmentUsage>& usage() const {
    return superblock_.long_usage_table() ? settled_usage_ : usage_;
  }
  /// Returns a segment's live bytes, including the usage table's own blocks.
  std::uint64_t live_bytes(SegmentNumber segment) const {
    return std::uint64_t{usage_[segment].live_bytes} + table_bytes_[segment];
  }

  /// Returns an inode. Fails if the inode is damaged or not allocated.
  Result<Inode> inode(InodeNumber number) const;
  /// Visits all blocks of the inode, each index block before the blocks to which it leads. Stops at
  /// the first invalid pointer.
  struct Block {
    BlockId id;
    SectorAddress address = 0;
    std::uint32_t bytes = 0;  ///< size in the log
  };
  Result<void> each_block(const Inode& inode, const std::function<void(const Block&)>& visit) const;
  /// Like each_block() without a budget, but subtracts the sectors of the visited blocks from the
  /// budget `sectors`. Fails if the budget does not suffice.
  Result<void> each_block(const Inode& inode, tree::BlockBudget& sectors,
                          const std::function<void(const Block&)>& visit) const;
  Result<SectorAddress> address_of(const Inode& inode, BlockId block) const;

  /// Returns all entries in order, including "." and "..".
  Result<std::vector<NamedInode>> entries(const Inode& directory) const;
  /// Reads at `offset`. Returns fewer bytes than requested only at the end of the file. Holes read
  /// as zeroes.
  Result<std::size_t> read(const Inode& inode, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(const Inode& inode) const;
  /// Returns the segment's summaries from its start up to the point where their sequence numbers
  /// stop ascending. Later summaries are from an earlier use of the segment.
  struct Described {
    SectorAddress address = 0;
    SummaryEntry entry;
  };
  struct Summaries {
    std::vector<Described> blocks;
    /// Number of sectors, in all regions, that no summary entry describes: the sectors of the
    /// summaries and trailers themselves.
    std::uint64_t own_sectors = 0;
  };
  Result<Summaries> summaries(SegmentNumber number) const;

 private:
  ImageReader(const model::SectorStore& store, const Superblock& superblock)
      : store_(&store), superblock_(superblock) {}
  /// A cached block of the inode map or of the usage table.
  struct Known {
    SectorAddress address = 0;
    Sources sources;
  };
  Result<bool> load(const Contents& contents);
  /// Reads the block if its contents may have changed. Returns true if the entries must be decoded
  /// again.
  Result<bool> fetch(Known& known, SectorAddress address, const Contents& contents,
                     std::string_view table, std::uint32_t number);
  Result<std::vector<std::byte>> block_at(SectorAddress address, std::uint32_t bytes) const;
  Result<void> visit_below(const Inode& inode, const Block& block, tree::BlockBudget& sectors,
                           const std::function<void(const Block&)>& visit) const;

  const model::SectorStore* store_;
  Superblock superblock_;
  Checkpoint checkpoint_;
  std::vector<MapEntry> map_;
  std::vector<SegmentUsage> usage_;  ///< entries as read from the disk
  /// The entries of `usage_` with corrected states (settle_states); used only for a long table.
  std::vector<SegmentUsage> settled_usage_;
  /// Bytes in each segment that belong to the usage table.
  std::vector<std::uint32_t> table_bytes_;
  std::vector<Known> map_known_, usage_known_;  ///< cached blocks, by block number
  std::vector<std::byte> block_;
};

/// Fails in the same cases as ImageReader::open().
Result<Checkpoint> newest_checkpoint(const model::SectorStore& store);

/// Returns the newer of two checkpoints. Either of them may be missing because the region is
/// invalid.
std::optional<Checkpoint> newest(std::optional<Checkpoint> one, std::optional<Checkpoint> other);

}  // namespace headcrash::lfs
