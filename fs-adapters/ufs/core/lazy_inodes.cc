// Writes zeroes, then the counter (lazy_inodes.h).

#include "fs-adapters/ufs/core/lazy_inodes.h"

#include <algorithm>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {

LazyInodes::LazyInodes(Volume& volume) : volume_(volume), lock_(volume.executor) {}

VfsResult<void> LazyInodes::initialise(std::uint32_t group, std::uint32_t slot) {
  const tree::FiberLockGuard one_at_a_time(lock_);
  const Geometry& geometry = volume_.geometry;
  const auto initialised = [&]() -> VfsResult<std::uint32_t> {
    const auto header = volume_.allocator.read_group(group);
    if (!header) return forward_errno(header);
    return CylinderGroup(geometry, header->bytes(), group).initialised_inodes();
  };
  auto next = initialised();
  if (!next) return forward_errno(next);
  if (slot < *next) return {};
  const InodeNumber first = group * geometry.inodes_per_group();
  std::uint32_t end = *next;
  for (; end <= slot; end += geometry.inodes_per_block()) {
    const FragmentAddress at = geometry.place_of(first + end).block;
    os::HeldBuffer block = volume_.cache.get(Volume::place(at), os::Content::metadata,
                                             volume_.lba(at), geometry.block_bytes());
    std::ranges::fill(block.bytes(), std::byte{0});
    TRY(as_result(volume_.cache.write(std::move(block))));
  }
  auto header = volume_.allocator.read_group(group);
  if (!header) return forward_errno(header);
  CylinderGroup(geometry, header->bytes(), group).set_initialised_inodes(end);
  return as_result(volume_.cache.write(std::move(*header)));
}

}  // namespace headcrash::ufs
