// Releases blocks of a file (file_blocks.h).
//
// When pointers are reset, their holder (the inode, or an indirect block that is kept) is reported
// to the scheme, together with all blocks that are released with these pointers. The deepest
// holders are reported first, the inode last. If a tree of indirect blocks is released completely,
// its blocks count as released from the holder above the tree, and the pointers within the tree are
// not changed.

#include <algorithm>
#include <cerrno>

#include "fs-adapters/substrate/tree/block_budget.h"
#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

/// A range of file blocks, from `first` up to but not including `end`.
struct BlockRange {
  std::uint64_t first = 0, end = 0;
  bool covers(std::uint64_t from, std::uint64_t count) const {
    return first <= from && from + count <= end;
  }
  bool meets(std::uint64_t from, std::uint64_t count) const {
    return from < end && first < from + count;
  }
};

/// Releases blocks of one inode: removes them from the cache and collects their extents.
class BlockRelease {
 public:
  BlockRelease(Volume& volume, CoreInode& inode)
      : volume_(volume), inode_(inode), budget_(volume.geometry.size_fragments()) {}

  const Geometry& geometry() const { return volume_.geometry; }

  void take_data(std::uint64_t block, FragmentAddress at, std::uint32_t fragments,
                 std::vector<Extent>& extents) {
    volume_.cache.discard(Volume::block_of(inode_.number, static_cast<std::int64_t>(block)));
    extents.push_back({at, fragments});
  }

  /// Returns the contents of an indirect block. Pointers that the cache covers are replaced by the
  /// cached ones, which may be newer.
  VfsResult<std::vector<std::byte>> pointers_at(FragmentAddress at, std::uint32_t levels,
                                                std::uint64_t from) {
    std::vector<std::byte> pointers(geometry().block_bytes());
    const bool cached = levels == 1 && inode_.bmap.is_of(geometry(), from);
    if (!cached || !inode_.bmap.alone()) {
      TRY(auto buffer, volume_.read_block(at));
      std::ranges::copy(buffer.bytes(), pointers.begin());
    }
    if (cached) inode_.bmap.lay_over(geometry(), pointers);
    return pointers;
  }

  /// Releases the whole tree below a pointer, including the block to which the pointer refers. If
  /// `levels` is 0, that block is a data block.
  VfsResult<void> take_tree(FragmentAddress at, std::uint32_t levels, std::uint64_t from,
                            std::vector<Extent>& extents) {
    if (!geometry().is_block(at) || !budget_.take()) return refuse(EIO);
    if (levels == 0) {
      take_data(from, at, geometry().fragments_per_block(), extents);
      return {};
    }
    {
      TRY(const auto pointers, pointers_at(at, levels, from));
      for (std::uint32_t i = 0; i < geometry().pointers_per_block(); ++i) {
        const FragmentAddress child = load32(pointers, std::size_t{i} * 4);
        if (child == 0) continue;
        const auto taken = take_tree(child, levels - 1, from + i * below(levels), extents);
        if (!taken) return taken;
      }
    }
    volume_.cache.discard(Volume::place(at));
    extents.push_back({at, geometry().fragments_per_block()});
    return {};
  }

  /// Releases the part of `range` below the indirect block `at`, but not the indirect block itself.
  VfsResult<void> take_part(Operation& operation, FragmentAddress at, std::uint32_t levels,
                            std::uint64_t from, const BlockRange& range) {
    if (!geometry().is_block(at) || !budget_.take()) return refuse(EIO);
    TRY(auto buffer, volume_.read_block(at));
    std::vector<Extent> extents;
    for (std::uint32_t i = 0; i < geometry().pointers_per_block(); ++i) {
      const std::uint64_t child_from = from + i * below(levels);
      const FragmentAddress child = load32(buffer.bytes(), std::size_t{i} * 4);
      if (child == 0 || !range.meets(child_from, below(levels))) continue;
      if (range.covers(child_from, below(levels))) {
        TRY(take_tree(child, levels - 1, child_from, extents));
        store32(buffer.bytes(), std::size_t{i} * 4, 0);
      } else
        TRY(take_part(operation, child, levels - 1, child_from, range));
    }
    if (extents.empty()) return {};
    forget_sectors(extents);
    return volume_.scheme->blocks_removed(operation,
                                          {.inode = inode_,
                                           .extents = std::move(extents),
                                           .first_block = static_cast<std::int64_t>(range.first),
                                           .end_block = static_cast<std::int64_t>(range.end),
                                           .holder = at},
                                          std::move(buffer));
  }

  /// Releases the part of `range` to which the inode points. Resets the inode's pointers, and adds
  /// the released extents to the list.
  VfsResult<void> take_from_inode(Operation& operation, const BlockRange& range,
                                  std::uint64_t size_bytes, std::vector<Extent>& extents) {
    Inode& disk = inode_.disk;
    for (std::uint32_t level = kIndirectPointers; level >= 1; --level) {
      const std::uint64_t from = geometry().blocks_within(level - 1);
      const std::uint64_t count = geometry().blocks_below(level);
      FragmentAddress& at = disk.indirect[level - 1];
      if (at == 0 || !range.meets(from, count)) continue;
      if (range.covers(from, count)) {
        TRY(take_tree(at, level, from, extents));
        at = 0;
      } else
        TRY(take_part(operation, at, level, from, range));
    }
    for (std::uint32_t block = 0; block < kDirectPointers; ++block) {
      if (disk.direct[block] == 0 || !range.covers(block, 1)) continue;
      const std::uint32_t fragments = geometry().fragments_of_block(size_bytes, block);
      if (!geometry().is_run(disk.direct[block], fragments)) return refuse(EIO);
      take_data(block, disk.direct[block], fragments, extents);
      disk.direct[block] = 0;
    }
    return {};
  }

  void forget_sectors(const std::vector<Extent>& extents) {
    for (const Extent& extent : extents)
      inode_.disk.sectors -=
          std::min(inode_.disk.sectors, extent.fragments * geometry().sectors_per_fragment());
    volume_.inodes.mark_changed(inode_);
  }

 private:
  /// Returns the number of file blocks to which each pointer leads, in an indirect block with
  /// `levels` levels.
  std::uint64_t below(std::uint32_t levels) const { return geometry().blocks_below(levels - 1); }

  Volume& volume_;
  CoreInode& inode_;
  tree::BlockBudget budget_;
};

/// If the new end of the file is inside a block, keeps that block. Zeroes the block's bytes after
/// the end, and releases the fragments that are no longer needed.
VfsResult<void> cut_last_block(Volume& volume, CoreInode& inode, std::uint64_t size_bytes,
                               std::vector<Extent>& extents) {
  const Geometry& geometry = volume.geometry;
  const std::uint32_t offset = geometry.offset_in_block(size_bytes);
  if (offset == 0) return {};
  const std::uint64_t last = geometry.block_of(size_bytes);
  TRY(const auto at, find_block(volume, inode, static_cast<std::int64_t>(last)));
  if (at == 0) return {};
  const std::uint32_t have = geometry.fragments_of_block(inode.disk.size_bytes, last);
  const std::uint32_t want = geometry.fragments_of_block(size_bytes, last);
  TRY(auto buffer, read_file_block(volume, inode, static_cast<std::int64_t>(last), at));
  const auto tail = buffer.bytes().subspan(offset);
  std::fill(tail.begin(), tail.end(), std::byte{0});
  volume.cache.write_delayed(std::move(buffer));
  if (want == have) return {};
  extents.push_back({at + want, have - want});
  const os::BufferKey key = Volume::block_of(inode.number, static_cast<std::int64_t>(last));
  // Shortens the buffer now. A later write of the whole buffer would overwrite fragments that may
  // belong to other files by then.
  auto shorter = volume.cache.read(
      key, inode.disk.holds_metadata() ? os::Content::metadata : os::Content::data, volume.lba(at),
      volume.bytes(want));
  if (!shorter) return refuse(EIO);
  volume.cache.write_delayed(std::move(*shorter));
  return {};
}

void add_unwritten(Volume& volume, FragmentAddress at, std::uint32_t levels,
                   tree::BlockBudget& budget, std::vector<os::BufferKey>& found) {
  if (at == 0 || !volume.geometry.is_block(at) || !budget.take()) return;
  if (levels > 1) {
    std::vector<FragmentAddress> below;
    if (auto buffer = volume.read_block(at))
      for (std::uint32_t i = 0; i < volume.geometry.pointers_per_block(); ++i)
        if (const FragmentAddress child = load32(buffer->bytes(), std::size_t{i} * 4); child != 0)
          below.push_back(child);
    for (const FragmentAddress child : below)
      add_unwritten(volume, child, levels - 1, budget, found);
  }
  const os::BufferKey key = Volume::place(at);
  // Waits until no fiber is changing the block.
  volume.cache.release(volume.cache.cached(key));
  if (volume.cache.unwritten(key)) found.push_back(key);
}

/// Merges and removes the bmap cache if the cache may cover one of the blocks from `first` up to
/// but not including `end`. Must be called before these blocks are released; otherwise, the inode
/// on the disk would refer to a free block. Does nothing if all indirect blocks are released: the
/// inode is then written without pointers to them, and this write also removes the cache.
VfsResult<void> end_cache_before(Volume& volume, CoreInode& inode, std::uint64_t first,
                                 std::uint64_t end) {
  const bool none = end <= kDirectPointers;
  const bool all = first <= kDirectPointers && end >= volume.geometry.file_blocks_max();
  return none || all ? VfsResult<void>() : end_bmap_cache(volume, inode);
}

}  // namespace

VfsResult<void> free_blocks(Volume& volume, Operation& operation, CoreInode& inode,
                            std::int64_t first, std::int64_t end) {
  if (auto ended = end_cache_before(volume, inode, static_cast<std::uint64_t>(first),
                                    static_cast<std::uint64_t>(end));
      !ended)
    return ended;
  BlockRelease release(volume, inode);
  std::vector<Extent> extents;
  const BlockRange range{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end)};
  auto taken = release.take_from_inode(operation, range, inode.disk.size_bytes, extents);
  if (!taken || extents.empty()) return taken;
  release.forget_sectors(extents);
  return volume.scheme->blocks_removed(
      operation,
      {.inode = inode, .extents = std::move(extents), .first_block = first, .end_block = end}, {});
}

VfsResult<void> set_size(Volume& volume, Operation& operation, CoreInode& inode,
                         std::uint64_t size_bytes) {
  const Geometry& geometry = volume.geometry;
  if (size_bytes > geometry.file_bytes_max()) return refuse(EFBIG);
  const std::uint64_t old_size = inode.disk.size_bytes;
  if (size_bytes > old_size) {
    // The last block is allocated even if it follows a hole, because fsck does not permit a file
    // that ends in a hole.
    const std::uint64_t last = geometry.blocks_of_size(size_bytes) - 1;
    const auto reach = static_cast<std::uint32_t>(size_bytes - last * geometry.block_bytes());
    TRY(auto grown, block_for_writing(volume, operation, inode,
                                      {.block = static_cast<std::int64_t>(last), .bytes = reach}));
    volume.cache.write_delayed(std::move(grown));
    inode.disk.size_bytes = size_bytes;
    volume.inodes.mark_changed(inode);
    return {};
  }
  std::vector<Extent> extents;
  const std::uint64_t first = geometry.blocks_of_size(size_bytes);
  TRY(end_cache_before(volume, inode, first, geometry.file_blocks_max()));
  if (size_bytes < old_size) TRY(cut_last_block(volume, inode, size_bytes, extents));
  BlockRelease release(volume, inode);
  auto taken =
      release.take_from_inode(operation, {first, geometry.file_blocks_max()}, old_size, extents);
  if (!taken) return taken;
  inode.disk.size_bytes = size_bytes;
  if (first <= kDirectPointers) inode.bmap = {};
  volume.inodes.mark_changed(inode);
  if (extents.empty()) return {};
  release.forget_sectors(extents);
  return volume.scheme->blocks_removed(
      operation,
      {.inode = inode,
       .extents = std::move(extents),
       .first_block = static_cast<std::int64_t>(first),
       .end_block = static_cast<std::int64_t>(geometry.file_blocks_max())},
      {});
}

VfsResult<std::vector<Extent>> take_all_blocks(Volume& volume, CoreInode& inode) {
  BlockRelease release(volume, inode);
  std::vector<Extent> extents;
  if (!pointers_are_text(inode.disk, volume.super.inline_target_max)) {
    // The whole tree is released, so no indirect block is changed.
    Operation none;
    auto taken = release.take_from_inode(none, {0, volume.geometry.file_blocks_max()},
                                         inode.disk.size_bytes, extents);
    if (!taken) return forward_errno(taken);
  }
  volume.cache.discard_object(inode.number);
  inode.disk = Inode{{.generation = inode.disk.generation}};
  inode.bmap = {};
  volume.inodes.mark_changed(inode);
  return extents;
}

std::vector<os::BufferKey> unwritten_indirect_blocks(Volume& volume, CoreInode& inode) {
  std::vector<os::BufferKey> found;
  tree::BlockBudget budget(volume.geometry.size_fragments());
  if (!pointers_are_text(inode.disk, volume.super.inline_target_max))
    for (std::uint32_t level = 1; level <= kIndirectPointers; ++level)
      add_unwritten(volume, inode.disk.indirect[level - 1], level, budget, found);
  return found;
}

}  // namespace headcrash::ufs
