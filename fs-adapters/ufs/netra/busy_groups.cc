// Marks groups as busy, and makes them quiet again (busy_groups.h).

#include "fs-adapters/ufs/netra/busy_groups.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "fs-adapters/ufs/core/file_blocks.h"
#include "fs-adapters/ufs/core/volume.h"
#include "fs-adapters/ufs/netra/busy_marks.h"

namespace headcrash::ufs {
namespace {

std::byte bit_of(std::uint32_t fragment) {
  return std::byte{1} << fragment % 8;
}

}  // namespace

BusyGroups::BusyGroups(Volume& volume, const NetraOptions& options)
    : volume_(volume),
      options_(options),
      superblock_(volume.executor),
      generation_changed_(volume.executor) {}

std::uint64_t BusyGroups::generation() const {
  return volume_.super.generation + unwritten_generations_;
}

std::size_t BusyGroups::bytes_in_core() const {
  std::size_t bytes = 0;
  for (const auto& [number, group] : groups_)
    bytes +=
        group.fragments.size() + (group.inodes.size() + group.wanted.size() + 1) * kDependencyBytes;
  return bytes;
}

void BusyGroups::operation_begins() {
  ++running_[volume_.executor.current()].depth;
}

void BusyGroups::operation_ends() {
  const auto running = running_.find(volume_.executor.current());
  if (--running->second.depth > 0) return;
  for (const std::uint32_t group : running->second.groups) --groups_.at(group).held;
  running_.erase(running);
}

void BusyGroups::hold(std::uint32_t group) {
  Group& busy = groups_.try_emplace(group, volume_.executor).first->second;
  ++busy.touched;
  if (running_.at(volume_.executor.current()).groups.insert(group).second) ++busy.held;
}

/// Adds the inode to the marks in the group's header. Returns false if the header has no room for
/// it.
bool BusyGroups::add_inode(BusyMarks& marks, std::uint32_t group, InodeNumber inode,
                           bool is_directory) const {
  if (volume_.geometry.group_of_inode(inode) != group)
    return marks.add_foreign_inode(inode, options_.foreign_in_header_max);
  marks.mark_inode(volume_.geometry.inode_index_in_group(inode), is_directory);
  return true;
}

bool BusyGroups::marked(std::uint32_t group, InodeNumber inode) const {
  const auto running = running_.find(volume_.executor.current());
  return running != running_.end() && running->second.groups.contains(group) &&
         groups_.at(group).inodes.contains(inode);
}

VfsResult<void> BusyGroups::write_marks(os::HeldBuffer header) {
  if (options_.broken == NetraOptions::Rule::marks_late) {
    volume_.cache.write_delayed(std::move(header));
    return {};
  }
  ++counters_.header_writes;
  return as_result(volume_.cache.write(std::move(header)));
}

VfsResult<void> BusyGroups::put_on_map(std::uint32_t group) {
  if (volume_.on_map.empty()) return {};
  volume_.on_map[group] = true;
  ++counters_.map_writes;
  const bool late = options_.broken == NetraOptions::Rule::map_late;
  return volume_.write_summary(group, late ? LastWrite::delayed : LastWrite::synchronous);
}

/// Marks the group as quiet on the map, after its header has been written. Does nothing if another
/// operation has begun to use the group. Also does nothing if the file system was mounted without a
/// check: the group's counts are then unknown.
VfsResult<void> BusyGroups::take_off_map(std::uint32_t group) {
  if (volume_.on_map.empty() || volume_.unchecked || groups_.contains(group)) return {};
  volume_.on_map[group] = false;
  ++counters_.map_writes;
  return volume_.write_summary(group, LastWrite::synchronous);
}

VfsResult<void> BusyGroups::enter(std::uint32_t group, InodeNumber inode, bool is_directory) {
  const tree::FiberLockGuard one_at_a_time(groups_.at(group).entering);
  if (groups_.at(group).on_disk) return {};
  TRY(put_on_map(group));
  auto header = volume_.allocator.read_group(group);
  if (!header) return forward_errno(header);
  if (uncleaned_.contains(group)) {
    BusyMarks(volume_.geometry, header->bytes(), group).set_generation(generation() - 1);
    ++counters_.header_writes;
    header = volume_.write_and_hold(std::move(*header));
    if (!header) return forward_errno(header);
    uncleaned_.erase(group);
  }
  TRY(empty_foreign_block(group));
  {
    const CylinderGroup map(volume_.geometry, header->bytes(), group);
    BusyMarks marks(volume_.geometry, header->bytes(), group);
    marks.set_generation(generation() - 1);
    marks.clear(map.totals().directories);
  }
  ++counters_.header_writes;
  header = volume_.write_and_hold(std::move(*header));
  if (!header) return forward_errno(header);
  const CylinderGroup map(volume_.geometry, header->bytes(), group);
  BusyMarks marks(volume_.geometry, header->bytes(), group);
  marks.set_generation(generation());
  marks.mark_free_fragments(map);
  add_inode(marks, group, inode, is_directory);  // the header always has space for the first inode
  const auto free = map.fragment_map();
  std::vector<std::byte> fragments(free.begin(), free.end());
  TRY(write_marks(std::move(*header)));
  Group& busy = groups_.at(group);
  busy.fragments = std::move(fragments);
  busy.inodes.insert(inode);
  busy.on_disk = true;
  ++counters_.entered;
  return {};
}

VfsResult<void> BusyGroups::mark(std::uint32_t group, InodeNumber inode, bool is_directory) {
  while (changing_generation_) generation_changed_.wait();
  hold(group);
  if (!groups_.at(group).on_disk) TRY(enter(group, inode, is_directory));
  return mark_inode(group, inode, is_directory);
}

VfsResult<void> BusyGroups::mark_inode(std::uint32_t group, InodeNumber inode, bool is_directory) {
  Group& busy = groups_.at(group);  // the caller's operation holds this group
  if (busy.inodes.contains(inode)) return {};
  if (!options_.marks_together) return write_inode_marks(group, {{inode, is_directory}});
  busy.wanted.push_back({inode, is_directory});
  const tree::FiberLockGuard one_at_a_time(busy.marking);
  if (busy.inodes.contains(inode)) return {};
  auto wanted = std::exchange(busy.wanted, {});
  auto written = write_inode_marks(group, wanted);
  if (written) return written;
  // The other callers are still waiting. One of them retries the write on behalf of all.
  wanted.erase(std::ranges::find(wanted, inode, &Group::Wanted::inode));
  busy.wanted.insert(busy.wanted.end(), wanted.begin(), wanted.end());
  return written;
}

VfsResult<void> BusyGroups::write_inode_marks(std::uint32_t group,
                                              const std::vector<Group::Wanted>& wanted) {
  TRY(auto header, volume_.allocator.read_group(group));
  BusyMarks marks(volume_.geometry, header.bytes(), group);
  std::vector<InodeNumber> others;  // inodes that do not fit in the header
  for (const Group::Wanted& one : wanted)
    if (!add_inode(marks, group, one.inode, one.is_directory)) others.push_back(one.inode);
  if (others.size() < wanted.size()) {
    TRY(write_marks(std::move(header)));
  } else {
    volume_.cache.release(std::move(header));
  }
  if (!others.empty()) {
    TRY(const auto added, add_to_foreign_block(group, others));
    if (!added) TRY(demand_full_check());
  }
  for (const Group::Wanted& one : wanted) groups_.at(group).inodes.insert(one.inode);
  return {};
}

/// Clears the foreign block of a quiet group, so that the block's old entries do not become valid
/// again.
VfsResult<void> BusyGroups::empty_foreign_block(std::uint32_t group) {
  if (!volume_.super.features.foreign_block) return {};
  TRY(auto block, volume_.read_block(volume_.geometry.foreign_block(group)));
  ForeignBlock list(block.bytes());
  if (list.inodes().empty() && !block.dirty()) {
    volume_.cache.release(std::move(block));
    return {};
  }
  list.clear();
  ++counters_.header_writes;
  return as_result(volume_.cache.write(std::move(block)));
}

/// Adds the inodes to the group's foreign block. Returns false if the block has no room for all of
/// them.
VfsResult<bool> BusyGroups::add_to_foreign_block(std::uint32_t group,
                                                 const std::vector<InodeNumber>& inodes) {
  if (!volume_.super.features.foreign_block) return false;
  TRY(auto block, volume_.read_block(volume_.geometry.foreign_block(group)));
  ForeignBlock list(block.bytes());
  const bool all = std::ranges::all_of(inodes, [&](InodeNumber inode) { return list.add(inode); });
  if (auto written = write_marks(std::move(block)); !written) return forward_errno(written);
  return all;
}

VfsResult<void> BusyGroups::mark(const std::vector<Extent>& extents, InodeNumber inode,
                                 bool is_directory) {
  std::map<std::uint32_t, std::vector<Extent>> by_group;
  for (const Extent& extent : extents)
    by_group[volume_.geometry.group_of_fragment(extent.at)].push_back(extent);
  for (const auto& [group, here] : by_group) {
    TRY(mark(group, inode, is_directory));
    if (options_.broken == NetraOptions::Rule::freed_unmarked) continue;
    TRY(mark_fragments(group, here));
  }
  return {};
}

VfsResult<void> BusyGroups::mark_fragments(std::uint32_t group,
                                           const std::vector<Extent>& extents) {
  const Geometry& geometry = volume_.geometry;
  const auto is_marked = [&](const Extent& extent) {
    const auto& fragments = groups_.at(group).fragments;
    const std::uint32_t first = geometry.index_in_group(extent.at);
    for (std::uint32_t f = first; f < first + extent.fragments; ++f)
      if (f / 8 >= fragments.size() || (fragments[f / 8] & bit_of(f)) == std::byte{0}) return false;
    return true;
  };
  if (std::ranges::all_of(extents, is_marked)) return {};
  TRY(auto header, volume_.allocator.read_group(group));
  BusyMarks marks(geometry, header.bytes(), group);
  for (const Extent& extent : extents) {
    if (geometry.index_in_group(extent.at) + extent.fragments > geometry.group_fragments(group))
      return refuse(EIO);  // the pointer is damaged
    marks.mark_fragments(geometry.index_in_group(extent.at), extent.fragments);
  }
  TRY(write_marks(std::move(header)));
  auto& fragments = groups_.at(group).fragments;
  for (const Extent& extent : extents) {
    const std::uint32_t first = geometry.index_in_group(extent.at);
    for (std::uint32_t f = first; f < first + extent.fragments; ++f)
      fragments.at(f / 8) |= bit_of(f);
  }
  return {};
}

VfsResult<void> BusyGroups::demand_full_check() {
  const tree::FiberLockGuard one_at_a_time(superblock_);
  if (full_check_on_disk_) return {};
  ++counters_.full_checks;
  volume_.super.full_check = true;
  TRY(volume_.write_superblock(false));
  full_check_on_disk_ = true;
  return {};
}

VfsResult<void> BusyGroups::write_inode(InodeNumber number) {
  TRY(const auto inode, volume_.inodes.get(number, nullptr));
  const InodeLock lock(*inode);
  for (const os::BufferKey& key : unwritten_indirect_blocks(volume_, *inode))
    TRY(volume_.write_if_dirty(key));
  if (volume_.inodes.changed(number)) TRY(volume_.inodes.write_delayed(*inode));
  return volume_.write_if_dirty(volume_.inodes.block_key(number));
}

/// Returns true if the group can be marked quiet: it is not in use, all its busy inodes are on the
/// disk, and none of them would be removed by a check.
bool BusyGroups::settled(std::uint32_t group, std::uint64_t touched) const {
  const auto busy = groups_.find(group);
  if (changing_generation_ || busy == groups_.end() || busy->second.held > 0 ||
      busy->second.touched != touched || !busy->second.on_disk)
    return false;
  return std::ranges::none_of(busy->second.inodes, [&](InodeNumber inode) {
    return volume_.inodes.changed(inode) ||
           volume_.cache.unwritten(volume_.inodes.block_key(inode)) ||
           volume_.inodes.without_links(inode);
  });
}

VfsResult<bool> BusyGroups::clean(std::uint32_t group) {
  const auto busy = groups_.find(group);
  if (busy == groups_.end()) return false;
  const std::uint64_t touched = busy->second.touched;
  const std::set<InodeNumber> inodes = busy->second.inodes;
  const auto not_now = [&]() -> VfsResult<bool> {
    ++counters_.not_cleaned;
    return false;
  };
  if (busy->second.held > 0) return not_now();
  for (const InodeNumber inode : inodes)
    if (auto written = write_inode(inode); !written) return forward_errno(written);
  if (!settled(group, touched)) return not_now();
  // The maps are written first, and the mark in a separate write. If the maps and the mark were in
  // a single write, a torn write could mark outdated maps as quiet.
  const os::BufferKey key = Volume::place(volume_.geometry.header(group));
  if (auto written = volume_.write_if_dirty(key); !written) return forward_errno(written);
  TRY(auto header, volume_.allocator.read_group(group));
  if (header.dirty() || !settled(group, touched)) return not_now();
  BusyMarks(volume_.geometry, header.bytes(), group).set_generation(generation() - 1);
  groups_.erase(group);
  uncleaned_.insert(group);
  ++counters_.header_writes;
  if (auto written = as_result(volume_.cache.write(std::move(header))); !written)
    return forward_errno(written);
  uncleaned_.erase(group);
  ++counters_.cleaned;
  if (auto taken_off = take_off_map(group); !taken_off) return forward_errno(taken_off);
  return true;
}

VfsResult<bool> BusyGroups::begin_generation() {
  const tree::FiberLockGuard one_at_a_time(superblock_);
  if (changing_generation_ || !running_.empty() || volume_.cache.any_unwritten() ||
      volume_.inodes.changed() > 0 || !volume_.inodes.without_links().empty())
    return false;
  if (groups_.empty() && uncleaned_.empty() && !volume_.super.full_check) return true;
  changing_generation_ = true;
  groups_.clear();
  uncleaned_.clear();
  if (!volume_.unchecked) volume_.on_map.assign(volume_.on_map.size(), false);
  full_check_on_disk_ = false;
  ++counters_.generations;
  std::optional<Errno> refused;
  if (options_.broken == NetraOptions::Rule::generation_unwritten) {
    ++unwritten_generations_;
  } else {
    volume_.super.begin_generation();
    const auto written = volume_.write_superblock(false);
    // If the write fails, it is not known which generation is on the disk. Marks with a wrong
    // generation would not be valid, so all writes stop.
    if (!written) volume_.stop(), refused = written.error();
  }
  changing_generation_ = false;
  generation_changed_.wake_all();
  if (refused) return tl::unexpected(*refused);
  return true;
}

}  // namespace headcrash::ufs
