#pragma once
// Reads a file system's image directly from a store, without cache, without the file system's own
// code: for oracles and cross checks, which must not believe what they judge. Nothing on the image
// is believed either: addresses are looked at before they are followed, sizes bound by the
// device's, and what is invalid is an Error that names the inode. It changes nothing and needs no
// clean file system.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/inode_extension.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

struct NamedInode {
  std::string name;
  InodeNumber inode = 0;
  std::uint8_t type = 0;  ///< d_type
};

class ImageReader {
 public:
  /// The store must live as long.
  static Result<ImageReader> open(const model::SectorStore& store);

  const Superblock& superblock() const { return superblock_; }
  const Geometry& geometry() const { return geometry_; }

  Result<Inode> inode(InodeNumber number) const;
  /// What lies beside it: no tags and nothing cached where there are no extensions.
  Result<InodeExtension> extension(InodeNumber number) const;
  /// Without "." and "..", in the order in which they lie there.
  Result<std::vector<NamedInode>> list(InodeNumber directory) const;
  /// Components separated by '/'; "" is the root. Symbolic links are not followed.
  Result<InodeNumber> lookup(std::string_view path) const;
  /// Fewer bytes only at the end of the file; holes are zeroes.
  Result<std::size_t> read(InodeNumber number, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(InodeNumber number) const;
  /// The address of each block of a file, 0 for a hole; at most `most` of them. As the inode and
  /// its indirect blocks say: `bmap` says what of that is out of date.
  Result<std::vector<FragmentAddress>> blocks(const Inode& inode, std::uint64_t most,
                                              const BmapCache& bmap = {}) const;
  /// The same, of an inode of the image.
  Result<std::vector<FragmentAddress>> blocks(InodeNumber number) const;
  /// Calls it for each block of an inode of the image that is no hole, in order, and returns how
  /// many blocks there are, holes included.
  using VisitBlock = std::function<void(std::uint64_t block, FragmentAddress at)>;
  Result<std::uint64_t> each_block(InodeNumber number, const VisitBlock& visit) const;

  /// Everything below the root, a directory before what is in it. An inode with several names comes
  /// as often; a directory that is met again is an Error.
  struct Found {
    std::string path;
    InodeNumber number = 0;
    Inode inode;
  };
  Result<void> walk(const std::function<void(const Found&)>& visit) const;

 private:
  ImageReader(const model::SectorStore& store, const Superblock& superblock)
      : store_(&store), superblock_(superblock), geometry_(superblock) {}
  Result<std::uint32_t> initialised_inodes(std::uint32_t group) const;
  /// An inode and what is cached of its pointers, if that can be believed.
  struct Mapped {
    Inode inode;
    BmapCache bmap;
  };
  Result<Mapped> mapped(InodeNumber number) const;
  Result<void> each_block(const Mapped& mapped, std::uint64_t end, const VisitBlock& visit) const;
  Result<void> visit_below(const Mapped& mapped, FragmentAddress at, std::uint32_t levels,
                           std::uint64_t from, std::uint64_t end, tree::BlockBudget& budget,
                           const VisitBlock& visit) const;
  /// What an indirect block holds, with what is cached of it.
  Result<std::vector<std::byte>> pointers_at(const Mapped& mapped, FragmentAddress at,
                                             std::uint32_t levels, std::uint64_t from) const;
  Result<FragmentAddress> address_of(const Mapped& mapped, std::uint64_t block) const;
  Result<void> read_fragments(FragmentAddress at, std::span<std::byte> into) const;
  Result<std::size_t> read_inode(const Mapped& mapped, std::uint64_t offset,
                                 std::span<std::byte> into) const;
  /// The slot of an inode or an extension.
  Result<std::array<std::byte, kInodeBytes>> slot(InodeNumber number) const;

  const model::SectorStore* store_;
  Superblock superblock_;
  Geometry geometry_;
};

}  // namespace headcrash::ufs
