#pragma once
// Reads an image at its newest checkpoint, directly from a store: for the checker and for oracles,
// which must not believe what they judge. It shares the bytes of the structures (format.h) with the
// file system, and nothing else. What makes no sense is an Error that names the inode; nothing is
// changed.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/lfs/contents.h"
#include "fs-adapters/lfs/format.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "plugin/model/core/store.h"

namespace headcrash::lfs {

struct NamedInode {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;  ///< d_type
};

class ImageReader {
 public:
  /// The store must live as long. Map and usage table are read here. `contents`: of the store, for
  /// refresh().
  static Result<ImageReader> open(const model::SectorStore& store, const Contents& contents = {});
  /// Reads again what the store holds now, but for those blocks of map and usage table of which
  /// `contents` says that they are as they were read. Whether anything came out otherwise than it
  /// was. An Error, after which the reader is of no use: as from open(), and there is another
  /// superblock.
  Result<bool> refresh(const Contents& contents);

  const Superblock& superblock() const { return superblock_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  const std::vector<MapEntry>& map() const { return map_; }
  /// As the table has it: its own blocks are not counted.
  const std::vector<SegmentUsage>& usage() const {
    return superblock_.long_usage_table() ? settled_usage_ : usage_;
  }
  /// With them.
  std::uint64_t live_bytes(SegmentNumber segment) const {
    return std::uint64_t{usage_[segment].live_bytes} + table_bytes_[segment];
  }

  /// An Error, too, if it is not allocated.
  Result<Inode> inode(InodeNumber number) const;
  /// Every block that the inode leads to, index blocks before what they map. Stops at the first
  /// pointer that cannot be one.
  struct Block {
    BlockId id;
    SectorAddress address = 0;
    std::uint32_t bytes = 0;  ///< in the log
  };
  Result<void> each_block(const Inode& inode, const std::function<void(const Block&)>& visit) const;
  /// The same; an error, too, when its blocks have more sectors than that.
  Result<void> each_block(const Inode& inode, tree::BlockBudget& sectors,
                          const std::function<void(const Block&)>& visit) const;
  Result<SectorAddress> address_of(const Inode& inode, BlockId block) const;

  /// "." and "..", too; in their order.
  Result<std::vector<NamedInode>> entries(const Inode& directory) const;
  /// Components separated by '/'; "" is the root. Symbolic links are not followed.
  Result<Inode> lookup(std::string_view path) const;
  /// Fewer bytes only at the end of the file; holes are zeroes.
  Result<std::size_t> read(const Inode& inode, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(const Inode& inode) const;
  /// The summaries that lie one behind the other from the segment's start on, as long as their
  /// sequence numbers rise: behind them is what the segment held in its life before.
  struct Described {
    SectorAddress address = 0;
    SummaryEntry entry;
  };
  struct Summaries {
    std::vector<Described> blocks;
    std::uint64_t own_sectors = 0;  ///< what the regions have beside those blocks
  };
  Result<Summaries> summaries(SegmentNumber number) const;

  /// Everything below the root, a directory before what is in it; an inode with several names comes
  /// as often.
  struct Found {
    std::string path;
    Inode inode;
  };
  Result<void> walk(const std::function<void(const Found&)>& visit) const;

 private:
  ImageReader(const model::SectorStore& store, const Superblock& superblock)
      : store_(&store), superblock_(superblock) {}
  /// A block of a table.
  struct Known {
    SectorAddress address = 0;
    Sources sources;
  };
  Result<bool> load(const Contents& contents);
  /// Reads the block, and says whether its entries have to be taken from it.
  Result<bool> fetch(Known& known, SectorAddress address, const Contents& contents,
                     std::string_view table, std::uint32_t number);
  /// Without "." and "..".
  Result<std::vector<NamedInode>> names(std::uint64_t directory) const;
  Result<std::vector<std::byte>> block_at(SectorAddress address, std::uint32_t bytes) const;
  Result<void> visit_below(const Inode& inode, const Block& block, tree::BlockBudget& sectors,
                           const std::function<void(const Block&)>& visit) const;

  const model::SectorStore* store_;
  Superblock superblock_;
  Checkpoint checkpoint_;
  std::vector<MapEntry> map_;
  std::vector<SegmentUsage> usage_;             ///< as it was read
  std::vector<SegmentUsage> settled_usage_;     ///< of a long table
  std::vector<std::uint32_t> table_bytes_;      ///< by segment
  std::vector<Known> map_known_, usage_known_;  ///< by block
  std::vector<std::byte> block_;
};

/// Of the file system that is there. Errors: as ImageReader::open().
Result<Checkpoint> newest_checkpoint(const model::SectorStore& store);

/// The newer of the regions that are whole.
std::optional<Checkpoint> newest(std::optional<Checkpoint> one, std::optional<Checkpoint> other);

}  // namespace headcrash::lfs
