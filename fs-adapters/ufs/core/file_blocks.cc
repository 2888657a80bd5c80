// Looks up, allocates and extends the blocks of a file (file_blocks.h).

#include "fs-adapters/ufs/core/file_blocks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/volume.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

os::Content content_of(const CoreInode& inode) {
  return inode.disk.holds_metadata() ? os::Content::metadata : os::Content::data;
}

BlockKind kind_of(const CoreInode& inode) {
  return inode.disk.holds_metadata() ? BlockKind::metadata : BlockKind::data;
}

/// Fills a new block with its initial contents: empty chunks in a directory, zeroes otherwise.
void clear(const CoreInode& inode, std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  if (inode.disk.is_directory()) tree::format_chunks(bytes);
}

/// Returns true if `at` is a valid address for one of the file's blocks.
bool inside(const Volume& volume, const CoreInode& inode, std::int64_t block, FragmentAddress at) {
  const Geometry& geometry = volume.geometry;
  return geometry.is_run(
      at, geometry.fragments_of_block(inode.disk.size_bytes, static_cast<std::uint64_t>(block)));
}

void add_sectors(Volume& volume, CoreInode& inode, std::uint32_t fragments) {
  inode.disk.sectors += fragments * volume.geometry.sectors_per_fragment();
  volume.inodes.mark_changed(inode);
}

/// The place of the pointer to a block: in the inode, at `index` in a held block, or in the bmap
/// cache.
struct PointerPlace {
  struct Cached {
    /// A copy of the inode's cache with room for the pointer. The copy will replace the inode's
    /// cache.
    BmapCache cache;
    FragmentAddress behind = 0;  ///< address of the file's previous block
  };
  os::HeldBuffer holder;  ///< empty if the pointer is in the inode
  std::uint32_t index = 0;
  std::optional<Cached> cached = {};
};

FragmentAddress& inode_pointer(CoreInode& inode, std::uint32_t slot) {
  return slot < kDirectPointers ? inode.disk.direct[slot]
                                : inode.disk.indirect[slot - kDirectPointers];
}

FragmentAddress pointer(CoreInode& inode, const PointerPlace& place) {
  return place.holder ? load32(place.holder.bytes(), std::size_t{place.index} * 4)
                      : inode_pointer(inode, place.index);
}

/// Returns the pointer before `place`, without validating it.
FragmentAddress pointer_before(CoreInode& inode, const PointerPlace& place) {
  if (place.cached) return place.cached->behind;
  if (place.holder)
    return place.index == 0 ? 0 : load32(place.holder.bytes(), (std::size_t{place.index} - 1) * 4);
  return place.index == 0 || place.index >= kDirectPointers ? 0
                                                            : inode.disk.direct[place.index - 1];
}

/// Returns the address of the file's previous block, after which allocation should continue; 0 if
/// that block is missing or its pointer is damaged.
FragmentAddress before(const Volume& volume, CoreInode& inode, const PointerPlace& place) {
  const FragmentAddress at = pointer_before(inode, place);
  return volume.geometry.is_data(at) ? at : 0;
}

/// Allocates a whole block for an empty pointer, and sets the pointer. The block that contains the
/// pointer is changed and stays held.
VfsResult<os::HeldBuffer> allocate_block(Volume& volume, Operation& operation, CoreInode& inode,
                                         PointerPlace& place, BlockKind kind,
                                         const BlockWanted& wanted, std::uint32_t fragments) {
  const std::int64_t block = wanted.block;
  TRY(auto at, volume.allocator.allocate(inode, block, before(volume, inode, place), fragments));
  const bool indirect = kind == BlockKind::indirect;
  const os::BufferKey key = indirect ? Volume::place(at) : Volume::block_of(inode.number, block);
  os::HeldBuffer buffer =
      volume.cache.get(key, indirect ? os::Content::metadata : content_of(inode), volume.lba(at),
                       volume.bytes(fragments));
  if (indirect) {
    std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0});
  } else {
    if (wanted.first_contents.size() < buffer.bytes().size()) clear(inode, buffer.bytes());
    std::ranges::copy(wanted.first_contents, buffer.bytes().begin());
  }
  auto initialised =
      volume.scheme->block_allocated(operation,
                                     {.inode = inode,
                                      .kind = kind,
                                      .block = block,
                                      .at = at,
                                      .fragments = fragments,
                                      .old_size_bytes = inode.disk.size_bytes,
                                      .holder = place.holder ? &place.holder : nullptr,
                                      .slot = place.index},
                                     std::move(buffer));
  if (!initialised) return initialised;
  if (place.cached) {
    place.cached->cache.set(static_cast<std::uint64_t>(block), at);
    inode.bmap = place.cached->cache;
  } else if (place.holder) {
    store32(place.holder.bytes(), std::size_t{place.index} * 4, at);
  } else {
    inode_pointer(inode, place.index) = at;
  }
  add_sectors(volume, inode, fragments);
  return initialised;
}

/// Extends direct block `block` from `have` to `want` fragments.
VfsResult<os::HeldBuffer> grow_fragments(Volume& volume, Operation& operation, CoreInode& inode,
                                         std::uint32_t block, std::uint32_t have,
                                         std::uint32_t want) {
  const FragmentAddress old_at = inode.disk.direct[block];
  std::vector<std::byte> kept;
  {
    auto old = read_file_block(volume, inode, block, old_at);
    if (!old) return old;
    kept.assign(old->bytes().begin(), old->bytes().end());
    // From here on, the old buffer is not held and may be written and evicted. `kept` has its
    // bytes.
  }
  FragmentAddress at = old_at;
  TRY(auto extended, volume.allocator.extend(inode, old_at, have, want));
  if (!extended) {
    TRY(auto other,
        volume.allocator.allocate(inode, block, before(volume, inode, {.index = block}), want));
    at = other;
  }
  os::HeldBuffer buffer = volume.cache.get(Volume::block_of(inode.number, block), content_of(inode),
                                           volume.lba(at), volume.bytes(want));
  std::copy_n(kept.begin(), std::min(kept.size(), buffer.bytes().size()), buffer.bytes().begin());
  clear(inode, buffer.bytes().subspan(volume.bytes(have)));
  auto initialised = volume.scheme->block_allocated(operation,
                                                    {.inode = inode,
                                                     .kind = kind_of(inode),
                                                     .block = block,
                                                     .at = at,
                                                     .fragments = want,
                                                     .old_at = old_at,
                                                     .old_fragments = have,
                                                     .old_size_bytes = inode.disk.size_bytes,
                                                     .slot = block},
                                                    std::move(buffer));
  if (!initialised) return initialised;
  inode.disk.direct[block] = at;
  add_sectors(volume, inode, want - have);
  if (at == old_at) return initialised;
  operation.moved_block = true;
  // Makes the buffer available to readers at its new address, so that the old extent can be freed.
  volume.cache.write_delayed(std::move(*initialised));
  auto removed = volume.scheme->blocks_removed(operation,
                                               {.inode = inode,
                                                .extents = {{old_at, have}},
                                                .first_block = block,
                                                .end_block = block + 1,
                                                .moved = true},
                                               {});
  if (!removed) return forward_errno(removed);
  auto again = volume.cache.read(Volume::block_of(inode.number, block), content_of(inode),
                                 volume.lba(at), volume.bytes(want));
  if (!again) return refuse(EIO);
  if (inode.disk.is_directory()) volume.scheme->directory_block_read(*again);
  return std::move(*again);
}

/// Extends the last block from fragments to a whole block, because the file is about to grow beyond
/// it.
VfsResult<void> complete_last_block(Volume& volume, Operation& operation, CoreInode& inode,
                                    std::int64_t block) {
  const Geometry& geometry = volume.geometry;
  if (inode.disk.size_bytes == 0) return {};
  const std::uint64_t last = geometry.blocks_of_size(inode.disk.size_bytes) - 1;
  if (last >= kDirectPointers || std::cmp_less_equal(block, last) || inode.disk.direct[last] == 0)
    return {};
  const std::uint32_t have = geometry.fragments_of_block(inode.disk.size_bytes, last);
  if (have == geometry.fragments_per_block()) return {};
  TRY(auto grown, grow_fragments(volume, operation, inode, static_cast<std::uint32_t>(last), have,
                                 geometry.fragments_per_block()));
  volume.cache.write_delayed(std::move(grown));
  inode.disk.size_bytes = (last + 1) * geometry.block_bytes();
  return {};
}

VfsResult<os::HeldBuffer> existing_block(Volume& volume, CoreInode& inode,
                                         const BlockWanted& wanted, FragmentAddress at,
                                         std::uint32_t fragments) {
  if (!wanted.overwritten) return read_file_block(volume, inode, wanted.block, at);
  return volume.cache.get(Volume::block_of(inode.number, wanted.block), content_of(inode),
                          volume.lba(at), volume.bytes(fragments));
}

VfsResult<os::HeldBuffer> direct_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                             const BlockWanted& wanted) {
  const Geometry& geometry = volume.geometry;
  const auto block = static_cast<std::uint32_t>(wanted.block);
  const std::uint64_t end = std::max<std::uint64_t>(
      inode.disk.size_bytes, std::uint64_t{block} * geometry.block_bytes() + wanted.bytes);
  const std::uint32_t want = geometry.fragments_of_block(end, block);
  const FragmentAddress at = inode.disk.direct[block];
  if (at == 0) {
    PointerPlace place{.index = block};
    return allocate_block(volume, operation, inode, place, kind_of(inode), wanted, want);
  }
  if (!inside(volume, inode, wanted.block, at)) return refuse(EIO);
  const std::uint32_t have = geometry.fragments_of_block(inode.disk.size_bytes, block);
  if (want <= have) return existing_block(volume, inode, wanted, at, have);
  return grow_fragments(volume, operation, inode, block, have, want);
}

/// Writes an indirect block that received a pointer to a lower indirect block. With bmap caches,
/// waits for the write: from now on, an inode whose cache belongs to the lower block may reach the
/// disk at any time, and the lower block must then be reachable.
VfsResult<void> write_upper(Volume& volume, os::HeldBuffer upper) {
  if (volume.geometry.features().bmap_cache) return as_result(volume.cache.write(std::move(upper)));
  volume.cache.write_delayed(std::move(upper));
  return {};
}

/// Returns the location of a pointer in an indirect block. Allocates missing indirect blocks.
VfsResult<PointerPlace> reach_pointer(Volume& volume, Operation& operation, CoreInode& inode,
                                      const BlockWanted& wanted) {
  const Geometry& geometry = volume.geometry;
  const BlockPath path = geometry.path_of(static_cast<std::uint64_t>(wanted.block));
  PointerPlace place{.index = kDirectPointers + path.levels - 1};
  for (std::uint32_t level = 0; level < path.levels; ++level) {
    FragmentAddress at = pointer(inode, place);
    const bool absent = at == 0;
    os::HeldBuffer next;
    if (absent) {
      TRY(auto made, allocate_block(volume, operation, inode, place, BlockKind::indirect, wanted,
                                    geometry.fragments_per_block()));
      next = std::move(made);
    }
    // The block that contains the pointer must be released before the lower block is read.
    if (place.holder && absent)
      if (auto written = write_upper(volume, std::move(place.holder)); !written)
        return forward_errno(written);
    if (absent) at = static_cast<FragmentAddress>(next.key().block);
    next = {};
    if (!geometry.is_block(at)) return refuse(EIO);
    place.holder = {};
    TRY(auto read, volume.read_block(at));
    place = {.holder = std::move(read), .index = path.index[level]};
  }
  return place;
}

/// Returns true if the block's pointer belongs in an indirect block that has never been written.
/// Any pointer of that indirect block that is not in the cache is then a hole.
bool alone_in_indirect(const Volume& volume, const CoreInode& inode, std::uint64_t block) {
  return inode.bmap.alone() && block >= kDirectPointers &&
         inode.bmap.is_of(volume.geometry, volume.geometry.first_of_indirect(block));
}

/// Returns the pointer from the indirect block, for a block that the cache does not cover.
VfsResult<FragmentAddress> uncached_pointer(Volume& volume, Operation& operation, CoreInode& inode,
                                            const BlockWanted& wanted) {
  if (alone_in_indirect(volume, inode, static_cast<std::uint64_t>(wanted.block)))
    return FragmentAddress{0};
  TRY(const auto place, reach_pointer(volume, operation, inode, wanted));
  return pointer(inode, place);
}

/// Returns a block for writing. The block must be covered by the bmap cache or be beyond the end of
/// the file.
VfsResult<os::HeldBuffer> cached_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                             const BlockWanted& wanted) {
  const Geometry& geometry = volume.geometry;
  const std::uint32_t fragments = geometry.fragments_per_block();
  const auto block = static_cast<std::uint64_t>(wanted.block);
  const bool covered = inode.bmap.covers(block);
  // A new indirect block, which will be written only when the cache is merged.
  FragmentAddress indirect = 0;
  FragmentAddress at = covered ? inode.bmap.at(block) : 0;
  if (!covered && geometry.path_of(block).levels == 1 && inode.disk.indirect[0] == 0) {
    TRY(const auto allocated, volume.allocator.allocate(inode, wanted.block, 0, fragments));
    indirect = allocated;
  } else if (!covered) {
    TRY(const auto there, uncached_pointer(volume, operation, inode, wanted));
    at = there;
  }
  if (at != 0) {
    if (!geometry.is_block(at)) return refuse(EIO);
    return existing_block(volume, inode, wanted, at, fragments);
  }
  PointerPlace place{.index = kDirectPointers, .cached = {{.cache = inode.bmap}}};
  if (!covered && !inode.bmap.has_room_for(geometry, block)) {
    if (!inode.bmap.empty())
      if (auto merged = merge_bmap_cache(volume, inode); !merged) return forward_errno(merged);
    place.cached->cache = BmapCache(block, indirect != 0);
  }
  if (block != geometry.first_of_indirect(block)) {
    TRY(const auto behind, find_block(volume, inode, wanted.block - 1));
    place.cached->behind = behind;
  }
  auto made = allocate_block(volume, operation, inode, place, kind_of(inode), wanted, fragments);
  if (indirect == 0) return made;
  if (!made) {
    (void)volume.free_extents({{indirect, fragments}});
    return made;
  }
  inode.disk.indirect[0] = indirect;
  add_sectors(volume, inode, fragments);
  return made;
}

}  // namespace

VfsResult<FragmentAddress> find_block(Volume& volume, CoreInode& inode, std::int64_t block) {
  if (block < 0 || std::cmp_greater_equal(block, volume.geometry.file_blocks_max()))
    return refuse(EFBIG);
  const auto number = static_cast<std::uint64_t>(block);
  FragmentAddress at = 0;
  if (inode.bmap.covers(number)) {
    at = inode.bmap.at(number);
  } else if (!alone_in_indirect(volume, inode, number)) {
    const BlockPath path = volume.geometry.path_of(number);
    at = path.levels == 0 ? inode.disk.direct[path.index[0]] : inode.disk.indirect[path.levels - 1];
    for (std::uint32_t level = 0; level < path.levels && at != 0; ++level) {
      if (!volume.geometry.is_block(at)) return refuse(EIO);
      TRY(auto buffer, volume.read_block(at));
      at = load32(buffer.bytes(), std::size_t{path.index[level]} * 4);
    }
  }
  if (at != 0 && !inside(volume, inode, block, at)) return refuse(EIO);
  return at;
}

VfsResult<os::HeldBuffer> read_file_block(Volume& volume, CoreInode& inode, std::int64_t block,
                                          FragmentAddress at) {
  const Geometry& geometry = volume.geometry;
  const auto length = [&](std::int64_t of) {
    return volume.bytes(
        geometry.fragments_of_block(inode.disk.size_bytes, static_cast<std::uint64_t>(of)));
  };
  const os::BufferKey key = Volume::block_of(inode.number, block);
  if (block == inode.next_sequential &&
      (static_cast<std::uint64_t>(block) + 1) * geometry.block_bytes() < inode.disk.size_bytes) {
    const auto next = find_block(volume, inode, block + 1);
    if (next && *next != 0) {
      volume.cache.read_ahead(key, content_of(inode), volume.lba(at), length(block));
      volume.cache.read_ahead(Volume::block_of(inode.number, block + 1), content_of(inode),
                              volume.lba(*next), length(block + 1));
    }
  }
  inode.next_sequential = block + 1;
  auto buffer = volume.cache.read(key, content_of(inode), volume.lba(at), length(block));
  if (!buffer) return refuse(EIO);
  if (inode.disk.is_directory()) volume.scheme->directory_block_read(*buffer);
  return std::move(*buffer);
}

VfsResult<os::HeldBuffer> block_for_writing(Volume& volume, Operation& operation, CoreInode& inode,
                                            const BlockWanted& wanted) {
  const Geometry& geometry = volume.geometry;
  if (std::cmp_greater_equal(wanted.block, geometry.file_blocks_max())) return refuse(EFBIG);
  if (auto whole = complete_last_block(volume, operation, inode, wanted.block); !whole)
    return forward_errno(whole);
  if (wanted.block < kDirectPointers) return direct_for_writing(volume, operation, inode, wanted);

  if (geometry.features().bmap_cache && inode.disk.is_regular()) {
    const auto block = static_cast<std::uint64_t>(wanted.block);
    if (inode.bmap.covers(block) || block >= geometry.blocks_of_size(inode.disk.size_bytes))
      return cached_for_writing(volume, operation, inode, wanted);
    // This block's pointer must be stored in the indirect block, which has not been written yet.
    if (alone_in_indirect(volume, inode, block))
      if (auto ended = end_bmap_cache(volume, inode); !ended) return forward_errno(ended);
  }
  TRY(auto place, reach_pointer(volume, operation, inode, wanted));
  const FragmentAddress at = pointer(inode, place);
  if (at != 0) {
    if (!geometry.is_block(at)) return refuse(EIO);
    place.holder = {};
    return existing_block(volume, inode, wanted, at, geometry.fragments_per_block());
  }
  auto made = allocate_block(volume, operation, inode, place, kind_of(inode), wanted,
                             geometry.fragments_per_block());
  if (!made) return made;
  volume.cache.write_delayed(std::move(place.holder));
  return made;
}

}  // namespace headcrash::ufs
