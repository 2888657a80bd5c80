// Merges cached addresses into indirect blocks (file_blocks.h, bmap_cache.h). The scheme determines
// how long the caller must wait.

#include <algorithm>
#include <cerrno>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
namespace {

/// Returns the held buffer of the indirect block to which the cached pointers belong.
VfsResult<os::HeldBuffer> indirect_of_cache(Volume& volume, const CoreInode& inode) {
  const Geometry& geometry = volume.geometry;
  const BlockPath path = geometry.path_of(inode.bmap.first());
  FragmentAddress at = inode.disk.indirect.at(path.levels - 1);
  for (std::uint32_t level = 0; level + 1 < path.levels && at != 0; ++level) {
    TRY(const auto upper, volume.read_block(at));
    at = little_endian::load32(upper.bytes(), std::size_t{path.index.at(level)} * 4);
  }
  if (at == 0 || !geometry.is_data(at)) return refuse(EIO);
  if (!inode.bmap.alone()) return volume.read_block(at);
  return volume.cache.get(Volume::place(at), os::Content::metadata, volume.lba(at),
                          geometry.block_bytes());
}

VfsResult<void> merge(Volume& volume, CoreInode& inode, BmapMerge why) {
  TRY(auto indirect, indirect_of_cache(volume, inode));
  inode.bmap.lay_over(volume.geometry, indirect.bytes());
  TRY(volume.scheme->bmap_merged(inode, std::move(indirect), why));
  inode.bmap.merged();
  return {};
}

}  // namespace

VfsResult<void> merge_bmap_cache(Volume& volume, CoreInode& inode) {
  return merge(volume, inode, BmapMerge::full);
}

VfsResult<void> end_bmap_cache(Volume& volume, CoreInode& inode) {
  if (inode.bmap.empty()) return {};
  TRY(merge(volume, inode, BmapMerge::pointers_go));
  inode.bmap = {};
  volume.inodes.mark_changed(inode);
  return volume.scheme->bmap_ended(inode);
}

}  // namespace headcrash::ufs
