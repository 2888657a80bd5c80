// lost+found (fsck.h): files and directories without a name are moved to this directory. Their new
// names consist of "#" and the inode number. The directory grows by whole blocks, limited by free
// space and by its direct pointers. If lost+found is missing, it is created and the check is
// repeated, because the new inode and the new name must also be checked.

#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {
namespace {

constexpr int kSameNamesMax = 100;

}  // namespace

bool Fsck::State::has_name(const CheckedDirectory& d, std::string_view name) {
  for (std::uint32_t b = 0; b < d.blocks; ++b) {
    block.resize(directory_block_bytes(d, b));
    if (!read(directory_blocks[d.first_block + b], block)) return true;
    if (tree::find_entry(block, name)) return true;
  }
  return false;
}

bool Fsck::State::add_name(InodeNumber number, std::string_view name, InodeNumber named,
                           std::uint8_t kind) {
  CheckedDirectory& d = *directory(number);
  do {
    for (std::uint32_t b = 0; b < d.blocks; ++b) {
      const FragmentAddress at = directory_blocks[d.first_block + b];
      block.resize(directory_block_bytes(d, b));
      if (!read(at, block)) return false;
      const auto added = tree::add_entry(block, name, named, kind);
      if (!added) continue;
      const std::size_t byte = std::size_t{added->chunk()} * tree::kChunkBytes;
      return write_sectors(geometry.lba_of(at) + added->chunk(),
                           std::span<const std::byte>(block).subspan(byte, tree::kChunkBytes));
    }
  } while (grow(d));
  return false;
}

/// Adds a block to the directory. If the directory ends in a partial block, replaces this block by
/// a whole one instead.
bool Fsck::State::grow(CheckedDirectory& d) {
  Inode inode = load(d.inode);
  const std::uint32_t last_bytes = geometry.offset_in_block(d.size_bytes);
  const std::uint32_t index = last_bytes != 0 ? d.blocks - 1 : d.blocks;
  if (stopped() || index >= kDirectPointers) return false;
  const std::uint32_t width = geometry.fragments_per_block();
  const FragmentAddress at = map.allocate(width);
  if (at == 0) return false;
  std::vector<std::byte> bytes(geometry.block_bytes());
  tree::format_chunks(bytes);
  if (last_bytes != 0 && !read(inode.direct[index], std::span(bytes).first(last_bytes)))
    return false;
  if (!write(at, bytes)) return false;
  const std::uint32_t old = last_bytes != 0 ? geometry.fragments_of(last_bytes) : 0;
  if (old != 0) map.release(inode.direct[index], old);
  inode.direct[index] = at;
  inode.sectors += (width - old) * geometry.sectors_per_fragment();
  inode.size_bytes = d.size_bytes = (std::uint64_t{index} + 1) * geometry.block_bytes();
  save(d.inode, inode);
  // A directory's addresses must be contiguous in `directory_blocks`, so they are copied to the end
  // of this list, where the new address can be added.
  const auto begin = directory_blocks.begin() + d.first_block;
  const std::vector<FragmentAddress> blocks(begin, begin + static_cast<std::ptrdiff_t>(index));
  d.first_block = static_cast<std::uint32_t>(directory_blocks.size());
  directory_blocks.insert(directory_blocks.end(), blocks.begin(), blocks.end());
  directory_blocks.push_back(at);
  d.blocks = index + 1;
  return !stopped();
}

/// Returns a free inode among those that are initialised; 0 if there is no such inode.
InodeNumber Fsck::State::find_free_inode() {
  for (std::uint32_t group = 0; group < geometry.groups(); ++group) {
    const InodeNumber first = group * geometry.inodes_per_group();
    const InodeNumber end = first + initialised_inodes(group);
    for (InodeNumber number = std::max(first, kRootInode + 1); number < end; ++number)
      if (type[number] == 0 && geometry.is_inode(number)) return number;
  }
  return 0;
}

/// Initialises a block of inodes: first zeroes the block, then updates the header (allocator.h).
/// Returns false if all inodes were initialised already.
bool Fsck::State::initialise_inodes() {
  std::uint32_t group = 0;
  while (group < geometry.groups() && initialised_inodes(group) == geometry.inodes_per_group())
    ++group;
  if (group == geometry.groups()) return false;
  const std::uint32_t next = initialised_inodes(group);
  const InodePlace place = geometry.place_of(group * geometry.inodes_per_group() + next);
  std::vector<std::byte> bytes(geometry.block_bytes());
  if (!read(place.block, bytes)) return false;
  std::ranges::fill(std::span(bytes).subspan(place.offset), std::byte{0});
  if (!write(place.block, bytes) || !read(geometry.header(group), bytes)) return false;
  CylinderGroup(geometry, bytes, group)
      .set_initialised_inodes(next - next % geometry.inodes_per_block() +
                              geometry.inodes_per_block());
  return write(geometry.header(group), bytes);
}

/// Creates lost+found. Writes its block, then its inode, and last the entry in the root, so that a
/// power cut does no harm.
bool Fsck::State::make_lost_found() {
  if (has_name(*directory(kRootInode), "lost+found")) return false;
  InodeNumber number = find_free_inode();
  if (number == 0 && initialise_inodes()) number = find_free_inode();
  if (number == 0) return false;
  const FragmentAddress at = map.allocate(geometry.fragments_per_block());
  if (at == 0) return false;
  std::vector<std::byte> bytes(geometry.block_bytes());
  tree::format_chunks(bytes);
  tree::format_directory(std::span(bytes).first(tree::kChunkBytes), number, kRootInode);
  if (!write(at, bytes)) return false;
  Inode inode{{.mode = kTypeDirectory | 0700, .links = 2, .size_bytes = geometry.block_bytes()}};
  inode.sectors = geometry.fragments_per_block() * geometry.sectors_per_fragment();
  inode.modified.seconds = inode.changed.seconds = static_cast<std::int32_t>(options.time);
  inode.direct[0] = at;
  save(number, inode);
  again = add_name(kRootInode, "lost+found", number, entry_type(kTypeDirectory));
  if (!again) {
    save(number, {});
    map.release(at, geometry.fragments_per_block());
  }
  return again;
}

bool Fsck::State::put_into_lost_found(InodeNumber number) {
  if (!repairing() || stopped()) return false;
  const auto no_room = [&](const char* why) {
    had_no_room = true;
    find(FindingKind::no_room, number, 0, 0,
         fmt::format("inode {}: cannot be put into lost+found: {}; free some space and check again",
                     number, why),
         false);
    return false;
  };
  if (lost_found == 0) {
    // The inode is moved in the next round, when the new directory exists.
    return make_lost_found() || stopped()
               ? false
               : no_room("it does not exist, and there is no space to create it");
  }
  if (lost_found == number) return no_room("it is lost+found itself");
  std::string name = fmt::format("#{:07}", number);
  for (int i = 1; has_name(*directory(lost_found), name); ++i) {
    if (stopped() || i > kSameNamesMax) return no_room("the name already exists");
    name = fmt::format("#{:07}.{}", number, i);
  }
  if (!add_name(lost_found, name, number, type[number]))
    return stopped() ? false : no_room("it is full");
  ++names[number];
  ++directory(lost_found)->entries;
  return true;
}

}  // namespace headcrash::ufs
