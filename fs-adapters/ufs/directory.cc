// Directories as files (directory.h).

#include "fs-adapters/ufs/directory.h"

#include <cerrno>

#include "fs-adapters/ufs/file_blocks.h"
#include "fs-adapters/ufs/volume.h"

namespace headcrash::ufs {
namespace {

std::int64_t blocks_of(const Volume& volume, const CoreInode& directory) {
  return static_cast<std::int64_t>(volume.geometry.blocks_of_size(directory.disk.size_bytes));
}

/// Each block of a directory in turn, until `look` says that it has seen enough. Holes are passed over.
template <typename Look>
VfsResult<void> each_block(Volume& volume, CoreInode& directory, Look look) {
  const std::int64_t blocks = blocks_of(volume, directory);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto at = find_block(volume, directory, block);
    if (!at) return pass_on_errno(at);
    if (*at == 0) continue;
    auto buffer = read_file_block(volume, directory, block, *at);
    if (!buffer) return pass_on_errno(buffer);
    if (look(block, *buffer)) return {};
  }
  return {};
}

/// With each change of its entries.
void touch_directory(Volume& volume, CoreInode& directory) {
  ++directory.entry_changes;
  directory.disk.modified = directory.disk.changed = volume.timestamp();
  volume.inodes.mark_changed(directory);
}

/// A directory may end inside its last fragment (newfs makes it one chunk long): the rest of it becomes empty
/// chunks, which must be on the disk before the size is.
VfsResult<os::HeldBuffer> fill_last_fragment(Volume& volume, Operation& operation, CoreInode& directory,
                                             std::int64_t block, std::uint32_t from, std::uint32_t to) {
  const auto at = find_block(volume, directory, block);
  if (!at) return pass_on_errno(at);
  if (*at == 0) return refuse(EIO);
  auto buffer = read_file_block(volume, directory, block, *at);
  if (!buffer) return buffer;
  format_chunks(buffer->bytes().subspan(from, to - from));
  if (block >= kDirectPointers) {  // of another system: nothing undoes a size there
    volume.cache.write_delayed(std::move(*buffer));
    return read_file_block(volume, directory, block, *at);
  }
  const std::uint32_t fragments = volume.geometry.fragments_of(to);
  return volume.scheme->block_allocated(operation,
                                        {.inode = directory,
                                         .kind = BlockKind::metadata,
                                         .block = block,
                                         .at = *at,
                                         .fragments = fragments,
                                         .old_at = *at,
                                         .old_fragments = fragments,
                                         .old_size_bytes = directory.disk.size_bytes,
                                         .slot = static_cast<std::uint32_t>(block)},
                                        std::move(*buffer));
}

/// One more fragment, or a new block, of empty chunks.
VfsResult<std::int64_t> grow(Volume& volume, Operation& operation, CoreInode& directory) {
  const Geometry& geometry = volume.geometry;
  const std::uint64_t old_size_bytes = directory.disk.size_bytes;
  const std::uint32_t from = geometry.offset_in_block(old_size_bytes);
  const auto block = static_cast<std::int64_t>(geometry.block_of(old_size_bytes));
  const std::uint32_t unit = block < kDirectPointers ? geometry.fragment_bytes() : geometry.block_bytes();
  const std::uint32_t reach = (from / unit + 1) * unit;
  auto buffer = from % unit != 0
                    ? fill_last_fragment(volume, operation, directory, block, from, reach)
                    : block_for_writing(volume, operation, directory, {.block = block, .bytes = reach});
  if (!buffer) return pass_on_errno(buffer);
  volume.cache.release(std::move(*buffer));
  directory.disk.size_bytes = static_cast<std::uint64_t>(block) * geometry.block_bytes() + reach;
  touch_directory(volume, directory);
  if (auto grown = volume.scheme->directory_grown(operation, directory, old_size_bytes); !grown)
    return pass_on_errno(grown);
  return block;
}

}  // namespace

VfsResult<os::HeldBuffer> read_directory_block(Volume& volume, CoreInode& directory, std::int64_t block) {
  const auto at = find_block(volume, directory, block);
  if (!at) return pass_on_errno(at);
  if (*at == 0) return refuse(EIO);
  return read_file_block(volume, directory, block, *at);
}

VfsResult<std::optional<FoundName>> find_name(Volume& volume, CoreInode& directory, std::string_view name) {
  std::optional<FoundName> found;
  std::optional<std::int64_t> room;
  std::int64_t looked_at = 0;
  const std::uint64_t changes = directory.entry_changes;
  auto searched = each_block(volume, directory, [&](std::int64_t block, os::HeldBuffer& buffer) {
    const NameSearch seen = search_block(buffer.bytes(), name);
    looked_at += seen.entries;
    if (seen.room && !room) room = block;
    if (seen.inode != 0) found = FoundName{.inode = seen.inode, .block = block, .offset = seen.offset};
    return found.has_value();
  });
  volume.cpu.use(looked_at * volume.cpu.costs().directory_entry);
  if (!searched) return pass_on_errno(searched);
  if (!found) directory.missed = MissedName{.name = std::string(name), .room = room, .changes = changes};
  return found;
}

VfsResult<std::int64_t> make_room(Volume& volume, Operation& operation, CoreInode& directory,
                                  std::string_view name) {
  std::optional<std::int64_t> room;
  const MissedName& missed = directory.missed;
  if (missed.changes == directory.entry_changes && missed.name == name) {
    room = missed.room;
  } else {
    auto searched = each_block(volume, directory, [&](std::int64_t block, os::HeldBuffer& buffer) {
      if (chunk_with_room(buffer.bytes(), name.size())) room = block;
      return room.has_value();
    });
    if (!searched) return pass_on_errno(searched);
  }
  if (room) return *room;
  return grow(volume, operation, directory);
}

VfsResult<void> add_name(Volume& volume, Operation& operation, CoreInode& directory, CoreInode& target,
                         const NewName& added) {
  auto buffer = read_directory_block(volume, directory, added.block);
  if (!buffer) return pass_on_errno(buffer);
  const auto entry = add_entry(buffer->bytes(), added.name, target.number, entry_type(target.disk.mode));
  if (!entry) return refuse(EIO);
  touch_directory(volume, directory);
  auto done = volume.scheme->link_added(operation,
                                        {.directory = directory,
                                         .block = added.block,
                                         .offset = entry->offset,
                                         .target = target,
                                         .raises_directory = added.raises_directory,
                                         .others_follow = added.others_follow,
                                         .moved = entry->moved},
                                        std::move(*buffer));
  volume.names.note(target.number, directory.number, added.block);
  return done;
}

VfsResult<void> replace_name(Volume& volume, Operation& operation, CoreInode& directory, CoreInode& target,
                             const ChangedName& changed) {
  const FoundName& found = changed.at;
  auto buffer = read_directory_block(volume, directory, found.block);
  if (!buffer) return pass_on_errno(buffer);
  set_entry(buffer->bytes(), found.offset, target.number, entry_type(target.disk.mode));
  touch_directory(volume, directory);
  auto done = volume.scheme->link_added(operation,
                                        {.directory = directory,
                                         .block = found.block,
                                         .offset = found.offset,
                                         .target = target,
                                         .raises_directory = changed.raises_directory,
                                         .others_follow = true,
                                         .replaced = changed.replaced},
                                        std::move(*buffer));
  volume.names.note(target.number, directory.number, found.block);
  return done;
}

VfsResult<void> remove_name(Volume& volume, Operation& operation, CoreInode& directory,
                            const FoundName& found, const DroppedLink& dropped) {
  auto buffer = read_directory_block(volume, directory, found.block);
  if (!buffer) return pass_on_errno(buffer);
  remove_entry(buffer->bytes(), found.offset);
  touch_directory(volume, directory);
  return volume.scheme->link_removed(
      operation, {.directory = directory, .block = found.block, .offset = found.offset, .dropped = dropped},
      std::move(*buffer));
}

VfsResult<bool> is_empty(Volume& volume, CoreInode& directory) {
  bool empty = true;
  auto searched = each_block(volume, directory, [&](std::int64_t, os::HeldBuffer& buffer) {
    empty = is_empty_directory_block(buffer.bytes());
    return !empty;
  });
  if (!searched) return pass_on_errno(searched);
  return empty;
}

VfsResult<std::vector<ListedName>> list_names(Volume& volume, CoreInode& directory) {
  std::vector<ListedName> names;
  std::int64_t looked_at = 0;
  auto searched = each_block(volume, directory, [&](std::int64_t, os::HeldBuffer& buffer) {
    DirectoryCursor cursor(buffer.bytes());
    while (const auto entry = cursor.next()) {
      ++looked_at;
      if (entry->inode == 0 || entry->is_dot() || entry->is_dot_dot()) continue;
      names.push_back({.name = std::string(entry->name), .inode = entry->inode, .type = entry->type});
    }
    return false;
  });
  volume.cpu.use(looked_at * volume.cpu.costs().directory_entry);
  if (!searched) return pass_on_errno(searched);
  return names;
}

}  // namespace headcrash::ufs
