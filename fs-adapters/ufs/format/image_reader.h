#pragma once
// Reads a file system image directly from a store, without a cache and independently of the file
// system's code. Oracles and cross-checks use it. The image is untrusted: addresses are checked
// before use, sizes are bounded by the device, and damage is reported as an Error that names the
// inode. The reader never writes; the file system need not be clean.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/image_tree.h"
#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/ufs/format/format.h"
#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/inode_extension.h"
#include "plugin/model/core/store.h"

namespace headcrash::ufs {

using adapters::NamedInode;

class ImageReader {
 public:
  /// The store must outlive the reader.
  static Result<ImageReader> open(const model::SectorStore& store);

  const Superblock& superblock() const { return superblock_; }
  const Geometry& geometry() const { return geometry_; }

  Result<Inode> inode(InodeNumber number) const;
  /// Returns an inode's extension. If the file system has no extensions, the result has no tags and
  /// an empty cache.
  Result<InodeExtension> extension(InodeNumber number) const;
  /// Returns the entries except "." and "..", in the order in which they are on the disk.
  Result<std::vector<NamedInode>> list(InodeNumber directory) const;
  /// Resolves a path with components separated by '/'; "" is the root. Does not follow symbolic
  /// links.
  Result<InodeNumber> lookup(std::string_view path) const;
  /// Reads at `offset`. Returns fewer bytes than requested only at the end of the file. Holes read
  /// as zeroes.
  Result<std::size_t> read(InodeNumber number, std::uint64_t offset,
                           std::span<std::byte> into) const;
  Result<std::string> readlink(InodeNumber number) const;
  /// Returns the addresses of a file's first blocks, at most `most` of them; 0 for a hole. The
  /// addresses come from the inode and its indirect blocks, except those for which `bmap` has a
  /// newer address.
  Result<std::vector<FragmentAddress>> blocks(const Inode& inode, std::uint64_t most,
                                              const BmapCache& bmap = {}) const;
  /// Returns the addresses of all blocks of inode `number`, including those in its bmap cache.
  Result<std::vector<FragmentAddress>> blocks(InodeNumber number) const;
  /// Calls `visit` for each of the inode's blocks that is not a hole, in order. Returns the number
  /// of blocks, including holes.
  using VisitBlock = std::function<void(std::uint64_t block, FragmentAddress at)>;
  Result<std::uint64_t> each_block(InodeNumber number, const VisitBlock& visit) const;

  /// Visits everything below the root, each directory before its contents. An inode with several
  /// names is visited once per name. Fails if a directory has a second name.
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
  /// An inode, with its cached pointers if they are valid.
  struct Mapped {
    Inode inode;
    BmapCache bmap;
  };
  Result<Mapped> mapped(InodeNumber number) const;
  Result<void> each_block(const Mapped& mapped, std::uint64_t end, const VisitBlock& visit) const;
  Result<void> visit_below(const Mapped& mapped, FragmentAddress at, std::uint32_t levels,
                           std::uint64_t from, std::uint64_t end, tree::BlockBudget& budget,
                           const VisitBlock& visit) const;
  /// Returns the contents of an indirect block. Pointers that the cache covers are replaced by the
  /// cached ones, which may be newer.
  Result<std::vector<std::byte>> pointers_at(const Mapped& mapped, FragmentAddress at,
                                             std::uint32_t levels, std::uint64_t from) const;
  Result<FragmentAddress> address_of(const Mapped& mapped, std::uint64_t block) const;
  Result<void> read_fragments(FragmentAddress at, std::span<std::byte> into) const;
  Result<std::size_t> read_inode(const Mapped& mapped, std::uint64_t offset,
                                 std::span<std::byte> into) const;
  /// Returns the slot with this number. A slot contains an inode or an extension.
  Result<std::array<std::byte, kInodeBytes>> slot(InodeNumber number) const;

  const model::SectorStore* store_;
  Superblock superblock_;
  Geometry geometry_;
};

}  // namespace headcrash::ufs
