// Allocates blocks and inodes (allocator.h).

#include "fs-adapters/ufs/core/allocator.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/core/volume.h"

namespace headcrash::ufs {
namespace {

/// Asks one group after another until the allocation succeeds: first the preferred group, then
/// groups in the order of FFS's quadratic rehash, and finally all groups.
template <typename Ask>
auto try_groups(std::uint32_t groups, std::uint32_t preferred, Ask ask)
    -> decltype(ask(preferred)) {
  auto answer = ask(preferred);
  if (!answer || *answer) return answer;
  std::uint32_t group = preferred;
  for (std::uint32_t step = 1; step < groups; step *= 2) {
    group = (group + step) % groups;
    answer = ask(group);
    if (!answer || *answer) return answer;
  }
  for (std::uint32_t i = 1; i < groups; ++i) {
    answer = ask((preferred + i) % groups);
    if (!answer || *answer) return answer;
  }
  return answer;
}

}  // namespace

bool free_in_map(CylinderGroup& map, const Geometry& geometry, const Extent& extent) {
  const std::uint32_t index = geometry.index_in_group(extent.at);
  const std::uint32_t whole = geometry.fragments_per_block();
  if (extent.fragments == 0 || index % whole + extent.fragments > whole ||
      index + extent.fragments > map.fragments() || !map.run_used(index, extent.fragments))
    return false;
  map.free(index, extent.fragments);
  return true;
}

bool free_inode_in_map(CylinderGroup& map, std::uint32_t index, bool is_directory) {
  if (!map.inode_used(index)) return false;
  map.free_inode(index, is_directory);
  if (index < map.inode_rotor()) map.set_inode_rotor(index);
  return true;
}

Allocator::Allocator(Volume& volume) : volume_(volume), lazy_inodes_(volume) {}

std::uint64_t Allocator::free_fragments() const {
  const Summary& total = volume_.super.total;
  return std::uint64_t{total.free_blocks} * volume_.geometry.fragments_per_block() +
         total.free_fragments;
}

std::uint64_t Allocator::available_fragments() const {
  const std::uint64_t reserve =
      std::uint64_t{volume_.super.data_fragments} * volume_.super.reserve_percent / 100;
  return free_fragments() > reserve ? free_fragments() - reserve : 0;
}

VfsResult<os::HeldBuffer> Allocator::read_group(std::uint32_t group) {
  auto buffer = volume_.read_block(volume_.geometry.header(group));
  if (!buffer) return buffer;
  // The header is untrusted. If it is damaged, nothing is allocated from its group.
  if (!CylinderGroup::problem_of(volume_.geometry, buffer->bytes(), group).empty())
    return refuse(EIO);
  return buffer;
}

void Allocator::changed(std::uint32_t group, const Summary& totals, os::HeldBuffer buffer) {
  Summary& total = volume_.super.total;
  Summary& mine = volume_.groups[group];
  total.directories += totals.directories - mine.directories;
  total.free_blocks += totals.free_blocks - mine.free_blocks;
  total.free_inodes += totals.free_inodes - mine.free_inodes;
  total.free_fragments += totals.free_fragments - mine.free_fragments;
  mine = totals;
  volume_.super.modified = true;
  volume_.changes.note();
  volume_.cache.write_delayed(std::move(buffer));
}

std::uint32_t Allocator::preferred_group(const CoreInode& inode, std::int64_t block,
                                         FragmentAddress after) const {
  const Geometry& geometry = volume_.geometry;
  const std::uint32_t home = geometry.group_of_inode(inode.number);
  const auto spread =
      static_cast<std::int64_t>(std::max(1U, volume_.super.blocks_per_file_in_group_max));
  const bool leaves = block >= kDirectPointers && (after == 0 || block % spread == 0);
  if (!leaves) return after != 0 ? geometry.group_of_fragment(after) : home;
  // Returns the next group whose number of free blocks is at least the average.
  const std::uint32_t start = after != 0 ? geometry.group_of_fragment(after) + 1
                                         : home + static_cast<std::uint32_t>(block / spread);
  const std::uint32_t average = volume_.super.total.free_blocks / geometry.groups();
  for (std::uint32_t i = 0; i < geometry.groups(); ++i) {
    const std::uint32_t group = (start + i) % geometry.groups();
    if (volume_.groups[group].free_blocks >= average) return group;
  }
  return home;
}

VfsResult<std::optional<FragmentAddress>> Allocator::allocate_in(std::uint32_t group,
                                                                 const Search& from,
                                                                 std::uint32_t fragments,
                                                                 const CoreInode& inode) {
  const Geometry& geometry = volume_.geometry;
  const std::uint32_t whole = geometry.fragments_per_block();
  const Summary& has = volume_.groups[group];
  if (has.free_blocks == 0 && (fragments == whole || has.free_fragments == 0)) return std::nullopt;
  if (auto ready = volume_.scheme->before_taking(group, inode.number, inode.disk.is_directory());
      !ready)
    return forward_errno(ready);
  TRY(auto buffer, read_group(group));
  CylinderGroup map(geometry, buffer.bytes(), group);
  const auto ahead = [&](std::optional<std::uint32_t> found, std::uint32_t start) {
    return found && from.forward && *found < start ? std::nullopt : found;
  };
  std::optional<std::uint32_t> found;
  if (fragments < whole) {
    const std::uint32_t start = from.fragment.value_or(map.fragment_rotor());
    found = map.find_fragments(start, fragments);
    if (!from.fills_blocks) found = ahead(found, start / whole * whole);
    if (found) map.set_fragment_rotor(*found);
  }
  if (!found) {
    std::uint32_t start = from.block.value_or(map.block_rotor());
    if (start >= map.fragments()) {
      if (from.forward) return std::nullopt;
      start = 0;
    }
    found = ahead(map.find_block(start / whole * whole), start);
    if (found) map.set_block_rotor(*found);
  }
  if (!found) return std::nullopt;
  map.use(*found, fragments);
  changed(group, map.totals(), std::move(buffer));
  return geometry.group_base(group) + *found;
}

/// Moves the hot spot to the next group, unless another fiber has already moved it.
void Allocator::leave_hot_group(std::uint32_t group) {
  if (hot_.group == group) hot_ = {.group = (group + 1) % volume_.geometry.groups()};
}

/// Returns true if too much of the free space is in partly used blocks. The hot spot must then fill
/// these blocks. Otherwise, the number of partly used blocks would grow each time that the hot spot
/// passed all groups, until no whole block was free. FFS switches from time to space optimisation
/// at the same fraction.
bool Allocator::in_pieces() const {
  const std::uint64_t percent = std::max(volume_.super.reserve_percent, 4U) - 2;
  return std::uint64_t{volume_.super.total.free_fragments} * 100 >
         std::uint64_t{volume_.super.data_fragments} * percent;
}

/// Searches all groups, beginning at the hot spot. Finally, searches the part of the first group
/// before the hot spot.
VfsResult<std::optional<FragmentAddress>> Allocator::allocate_hot(std::uint32_t fragments,
                                                                  const CoreInode& inode) {
  const Geometry& geometry = volume_.geometry;
  for (std::uint32_t i = 0; i <= geometry.groups(); ++i) {
    const HotSpot now = hot_;
    const auto answer = allocate_in(now.group,
                                    {.block = now.block,
                                     .fragment = now.fragment,
                                     .forward = true,
                                     .fills_blocks = in_pieces()},
                                    fragments, inode);
    if (!answer) return answer;
    if (!*answer) {
      leave_hot_group(now.group);
      continue;
    }
    const std::uint32_t at = geometry.index_in_group(**answer);
    if (hot_.group != now.group) return answer;
    hot_.fragment = std::max(hot_.fragment, fragments < geometry.fragments_per_block() ? at : 0);
    if (fragments == geometry.fragments_per_block())
      hot_.block = std::max(hot_.block, at + fragments);
    return answer;
  }
  return std::nullopt;
}

/// Returns the address after the file's last allocation, which may have been that of an index
/// block. If nothing has been allocated yet, derives a group from the inode's number.
Allocator::Wanted Allocator::spread_place(const CoreInode& inode) const {
  const Geometry& geometry = volume_.geometry;
  const FragmentAddress next =
      inode.last_allocated / geometry.fragments_per_block() * geometry.fragments_per_block() +
      geometry.fragments_per_block();
  if (inode.last_allocated != 0 && next < geometry.size_fragments())
    return {geometry.group_of_fragment(next), next};
  constexpr std::uint32_t kOdd = 2654435761U;  // Knuth's multiplicative hashing
  return {
      static_cast<std::uint32_t>((std::uint64_t{inode.number * kOdd} * geometry.groups()) >> 32U),
      0};
}

Allocator::Wanted Allocator::wanted_place(const CoreInode& inode, std::int64_t block,
                                          FragmentAddress after) const {
  if (options_.placement == Placement::spread) return spread_place(inode);
  const Geometry& geometry = volume_.geometry;
  const std::uint32_t group = preferred_group(inode, block, after);
  const bool follows = after != 0 && geometry.group_of_fragment(after) == group;
  return {group, follows ? after + geometry.fragments_per_block() * (1 + options_.gap_blocks) : 0};
}

VfsResult<std::optional<FragmentAddress>> Allocator::allocate_near(const CoreInode& inode,
                                                                   std::int64_t block,
                                                                   FragmentAddress after,
                                                                   std::uint32_t fragments) {
  const Geometry& geometry = volume_.geometry;
  const Wanted wanted = wanted_place(inode, block, after);
  const bool inside = wanted.at != 0 && wanted.at < geometry.size_fragments() &&
                      geometry.group_of_fragment(wanted.at) == wanted.group;
  return try_groups(geometry.groups(), wanted.group, [&](std::uint32_t asked) {
    Search from;
    if (inside && asked == wanted.group)
      from.block = from.fragment = geometry.index_in_group(wanted.at);
    return allocate_in(asked, from, fragments, inode);
  });
}

VfsResult<FragmentAddress> Allocator::allocate(CoreInode& inode, std::int64_t block,
                                               FragmentAddress after, std::uint32_t fragments) {
  volume_.cpu.charge(os::Cost::allocation);
  if (available_fragments() < fragments) return refuse(ENOSPC);
  TRY(auto answer, options_.placement == Placement::hot_spot
                       ? allocate_hot(fragments, inode)
                       : allocate_near(inode, block, after, fragments));
  if (!answer) return refuse(ENOSPC);
  inode.last_allocated = *answer;
  return *answer;
}

VfsResult<bool> Allocator::extend(const CoreInode& inode, FragmentAddress at,
                                  std::uint32_t fragments, std::uint32_t new_fragments) {
  volume_.cpu.charge(os::Cost::allocation);
  if (available_fragments() < new_fragments - fragments) return refuse(ENOSPC);
  const std::uint32_t group = volume_.geometry.group_of_fragment(at);
  if (auto ready = volume_.scheme->before_taking(group, inode.number, inode.disk.is_directory());
      !ready)
    return forward_errno(ready);
  TRY(auto buffer, read_group(group));
  CylinderGroup map(volume_.geometry, buffer.bytes(), group);
  if (!map.extend(volume_.geometry.index_in_group(at), fragments, new_fragments)) return false;
  changed(group, map.totals(), std::move(buffer));
  return true;
}

VfsResult<void> Allocator::free(FragmentAddress at, std::uint32_t fragments) {
  volume_.cpu.charge(os::Cost::allocation);
  const Geometry& geometry = volume_.geometry;
  if (!geometry.is_data(at)) return refuse(EIO);  // the pointer is damaged
  const std::uint32_t group = geometry.group_of_fragment(at);
  TRY(auto buffer, read_group(group));
  CylinderGroup map(geometry, buffer.bytes(), group);
  if (!free_in_map(map, geometry, {.at = at, .fragments = fragments})) return refuse(EIO);
  changed(group, map.totals(), std::move(buffer));
  return {};
}

std::uint32_t Allocator::group_for_directory() const {
  const std::uint32_t average = volume_.super.total.free_inodes / volume_.geometry.groups();
  std::uint32_t best = 0;
  bool any = false;
  for (std::uint32_t group = 0; group < volume_.geometry.groups(); ++group) {
    const Summary& has = volume_.groups[group];
    if (has.free_inodes < average) continue;
    if (any && has.directories >= volume_.groups[best].directories) continue;
    best = group;
    any = true;
  }
  return best;
}

VfsResult<std::optional<InodeNumber>> Allocator::inode_in(std::uint32_t group,
                                                          std::optional<std::uint32_t> from,
                                                          bool is_directory) {
  if (volume_.groups[group].free_inodes == 0) return std::nullopt;
  const InodeNumber first = group * volume_.geometry.inodes_per_group();
  // While the scheme prepares the change, another fiber may take the inode that was found. The
  // search is then repeated.
  for (;;) {
    TRY(auto buffer, read_group(group));
    CylinderGroup map(volume_.geometry, buffer.bytes(), group);
    const auto found = map.find_inode(from.value_or(map.inode_rotor()));
    if (!found || (from && *found < *from)) return std::nullopt;
    if (*found >= map.initialised_inodes()) {
      volume_.cache.release(std::move(buffer));
      if (auto zeroed = lazy_inodes_.initialise(group, *found); !zeroed)
        return forward_errno(zeroed);
      continue;
    }
    if (!volume_.scheme->may_take(group, first + *found)) {
      volume_.cache.release(std::move(buffer));
      if (auto ready = volume_.scheme->before_taking(group, first + *found, false); !ready)
        return forward_errno(ready);
      continue;
    }
    map.use_inode(*found, is_directory);
    map.set_inode_rotor(*found);
    changed(group, map.totals(), std::move(buffer));
    return first + *found;
  }
}

VfsResult<std::optional<InodeNumber>> Allocator::inode_hot(bool is_directory) {
  for (std::uint32_t i = 0; i <= volume_.geometry.groups(); ++i) {
    const HotSpot now = hot_;
    const auto answer = inode_in(now.group, now.inode, is_directory);
    if (!answer) return answer;
    if (!*answer) {
      leave_hot_group(now.group);
      continue;
    }
    if (hot_.group == now.group)
      hot_.inode = std::max(hot_.inode, volume_.geometry.inode_index_in_group(**answer) + 1);
    return answer;
  }
  return std::nullopt;
}

VfsResult<InodeNumber> Allocator::allocate_inode(InodeNumber directory, bool is_directory) {
  volume_.cpu.charge(os::Cost::allocation);
  if (volume_.super.total.free_inodes == 0) return refuse(ENOSPC);
  if (options_.placement == Placement::hot_spot) {
    TRY(const auto found, inode_hot(is_directory));
    if (!found) return refuse(ENOSPC);
    return *found;
  }
  std::uint32_t group =
      is_directory ? group_for_directory() : volume_.geometry.group_of_inode(directory);
  if (options_.placement == Placement::spread)
    group = static_cast<std::uint32_t>(
        std::ranges::find_if(volume_.groups,
                             [](const Summary& has) { return has.free_inodes != 0; }) -
        volume_.groups.begin());
  if (group == volume_.groups.size()) return refuse(ENOSPC);
  auto answer = try_groups(volume_.geometry.groups(), group,
                           [&](std::uint32_t asked) { return inode_in(asked, {}, is_directory); });
  if (!answer) return forward_errno(answer);
  if (!*answer) return refuse(ENOSPC);
  return **answer;
}

VfsResult<void> Allocator::free_inode(InodeNumber number, bool is_directory) {
  volume_.cpu.charge(os::Cost::allocation);
  const std::uint32_t group = volume_.geometry.group_of_inode(number);
  const std::uint32_t index = volume_.geometry.inode_index_in_group(number);
  TRY(auto buffer, read_group(group));
  CylinderGroup map(volume_.geometry, buffer.bytes(), group);
  if (!free_inode_in_map(map, index, is_directory)) return refuse(EIO);
  changed(group, map.totals(), std::move(buffer));
  return {};
}

// ---- lazy inodes

LazyInodes::LazyInodes(Volume& volume) : volume_(volume), lock_(volume.executor) {}

VfsResult<void> LazyInodes::initialise(std::uint32_t group, std::uint32_t slot) {
  const tree::FiberLockGuard one_at_a_time(lock_);
  const Geometry& geometry = volume_.geometry;
  const auto initialised = [&]() -> VfsResult<std::uint32_t> {
    TRY(const auto header, volume_.allocator.read_group(group));
    return CylinderGroup(geometry, header.bytes(), group).initialised_inodes();
  };
  TRY(auto next, initialised());
  if (slot < next) return {};
  const InodeNumber first = group * geometry.inodes_per_group();
  std::uint32_t end = next;
  for (; end <= slot; end += geometry.inodes_per_block()) {
    const FragmentAddress at = geometry.place_of(first + end).block;
    os::HeldBuffer block = volume_.cache.get(Volume::place(at), os::Content::metadata,
                                             volume_.lba(at), geometry.block_bytes());
    std::ranges::fill(block.bytes(), std::byte{0});
    TRY(as_result(volume_.cache.write(std::move(block))));
  }
  TRY(auto header, volume_.allocator.read_group(group));
  CylinderGroup(geometry, header.bytes(), group).set_initialised_inodes(end);
  return as_result(volume_.cache.write(std::move(header)));
}

}  // namespace headcrash::ufs
