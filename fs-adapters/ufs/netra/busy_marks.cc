// Encodes and decodes busy marks (busy_marks.h).

#include "fs-adapters/ufs/netra/busy_marks.h"

#include <algorithm>

#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::size_t kMarksGeneration = 144, kQuietDirectories = 152;
constexpr std::size_t kForeignMin = 32;

std::uint64_t first_mark(std::uint64_t maps_end) {
  return (maps_end + 7) / 8 * 8;
}
std::uint64_t inode_mark_bytes(std::uint32_t inodes) {
  return (std::uint64_t{inodes} * 2 + 63) / 64 * 8;
}
std::uint64_t fragment_mark_bytes(std::uint32_t fragments) {
  return (std::uint64_t{fragments} + 63) / 64 * 8;
}

std::vector<InodeNumber> inodes_in(std::span<const std::byte> list) {
  std::vector<InodeNumber> inodes;
  for (std::size_t at = 0; at + 4 <= list.size(); at += 4)
    if (const InodeNumber inode = load32(list, at); inode != 0) inodes.push_back(inode);
  return inodes;
}

/// Stores the inode at the first empty position of the list, unless the list already contains it.
/// Returns false if the list is full.
bool add_inode(std::span<std::byte> list, InodeNumber inode) {
  for (std::size_t at = 0; at + 4 <= list.size(); at += 4) {
    const InodeNumber there = load32(list, at);
    if (there == inode) return true;
    if (there != 0) continue;
    store32(list, at, inode);
    return true;
  }
  return false;
}

}  // namespace

std::uint64_t BusyMarks::header_bytes(std::uint64_t maps_end, std::uint32_t inodes,
                                      std::uint32_t fragments) {
  return first_mark(maps_end) + inode_mark_bytes(inodes) + fragment_mark_bytes(fragments) +
         kForeignMin * 4;
}

BusyMarks::BusyMarks(const Geometry& geometry, std::span<std::byte> header, std::uint32_t group)
    : header_(header.first(geometry.block_bytes())), fragments_(geometry.group_fragments(group)) {
  inodes_at_ = first_mark(
      CylinderGroup::maps_end(geometry.inodes_per_group(), geometry.fragments_per_group()));
  fragments_at_ = inodes_at_ + inode_mark_bytes(geometry.inodes_per_group());
  foreign_at_ = fragments_at_ + fragment_mark_bytes(geometry.fragments_per_group());
  foreign_count_ = (header_.size() - foreign_at_) / 4;
}

std::uint64_t BusyMarks::generation() const {
  return load64(header_, kMarksGeneration);
}
void BusyMarks::set_generation(std::uint64_t generation) {
  store64(header_, kMarksGeneration, generation);
}
std::uint32_t BusyMarks::quiet_directories() const {
  return load32(header_, kQuietDirectories);
}

void BusyMarks::clear(std::uint32_t directories) {
  const auto marks = header_.subspan(inodes_at_);
  std::fill(marks.begin(), marks.end(), std::byte{0});
  store32(header_, kQuietDirectories, directories);
}

bool BusyMarks::inode_busy(std::uint32_t inode) const {
  return (load8(header_, inodes_at_ + inode / 4) >> (inode % 4 * 2) & 1U) != 0;
}
bool BusyMarks::inode_was_directory(std::uint32_t inode) const {
  return (load8(header_, inodes_at_ + inode / 4) >> (inode % 4 * 2) & 2U) != 0;
}
void BusyMarks::mark_inode(std::uint32_t inode, bool is_directory) {
  if (inode_busy(inode)) return;
  const std::size_t at = inodes_at_ + inode / 4;
  const unsigned bits = (is_directory ? 3U : 1U) << (inode % 4 * 2);
  store8(header_, at, static_cast<std::uint8_t>(load8(header_, at) | bits));
}

bool BusyMarks::fragment_busy(std::uint32_t fragment) const {
  return (load8(header_, fragments_at_ + fragment / 8) >> (fragment % 8) & 1U) != 0;
}
void BusyMarks::mark_fragments(std::uint32_t fragment, std::uint32_t count) {
  for (std::uint32_t f = fragment; f < fragment + count; ++f) {
    const std::size_t at = fragments_at_ + f / 8;
    store8(header_, at, static_cast<std::uint8_t>(load8(header_, at) | 1U << (f % 8)));
  }
}
void BusyMarks::mark_free_fragments(const CylinderGroup& map) {
  const auto free = map.fragment_map();
  const auto marks = header_.subspan(fragments_at_, free.size());
  for (std::size_t i = 0; i < free.size(); ++i) marks[i] |= free[i];
}

std::vector<InodeNumber> BusyMarks::foreign_inodes() const {
  return inodes_in(header_.subspan(foreign_at_, foreign_count_ * 4));
}

bool BusyMarks::add_foreign_inode(InodeNumber inode, std::size_t most) {
  return add_inode(header_.subspan(foreign_at_, std::min(foreign_count_, most) * 4), inode);
}

std::vector<InodeNumber> ForeignBlock::inodes() const {
  return inodes_in(block_);
}

bool ForeignBlock::add(InodeNumber inode) {
  return add_inode(block_, inode);
}

void ForeignBlock::clear() {
  std::ranges::fill(block_, std::byte{0});
}

}  // namespace headcrash::ufs
