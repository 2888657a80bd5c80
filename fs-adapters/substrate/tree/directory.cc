// Searches and changes directories (directory.h).

#include "fs-adapters/substrate/tree/directory.h"

#include <algorithm>
#include <cerrno>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "plugin/base/invariant.h"

namespace headcrash::tree {
namespace {

/// Returns the bytes of a block that belong to the directory, in whole chunks. In the last block,
/// the buffer may extend beyond them.
std::span<std::byte> chunks_of(InodeStore& store, const CoreInode& directory, std::int64_t block,
                               const os::HeldBuffer& buffer) {
  const std::uint64_t start = static_cast<std::uint64_t>(block) * store.block_bytes();
  const std::uint64_t left = directory.attributes.size_bytes - start;
  const std::uint64_t chunks = left / kChunkBytes + (left % kChunkBytes != 0 ? 1 : 0);
  return buffer.bytes().first(std::min<std::uint64_t>(buffer.bytes().size(), chunks * kChunkBytes));
}

/// Calls `look` for each block of the directory until `look` reports that it is done. Fails with
/// EIO if the directory has a hole.
template <typename Look>
VfsResult<void> each_block(InodeStore& store, CoreInode& directory, Look look) {
  const std::uint64_t size = directory.attributes.size_bytes, block_bytes = store.block_bytes();
  const auto blocks =
      static_cast<std::int64_t>(size / block_bytes + (size % block_bytes != 0 ? 1 : 0));
  for (std::int64_t block = 0; block < blocks; ++block) {
    TRY(auto buffer, store.read_block(directory, block));
    if (!buffer) return refuse(EIO);
    if (look(block, chunks_of(store, directory, block, buffer))) return {};
  }
  return {};
}

}  // namespace

void touch_directory(InodeStore& store, CoreInode& directory) {
  ++directory.entry_changes;
  directory.attributes.modified = directory.attributes.changed = store.now();
  store.mark_changed(directory);
}

DroppedLink dropped_from(CoreInode& parent, CoreInode& inode) {
  if (!inode.attributes.is_directory()) return {.inode = &inode};
  return {.inode = &inode, .parent = &parent, .links = 2};
}

namespace {

/// Returns the block, held and ready to be changed. Fails with EIO if the block is a hole.
VfsResult<os::HeldBuffer> directory_block_to_change(InodeStore& store, Operation& operation,
                                                    CoreInode& directory, std::int64_t block) {
  auto buffer = store.block_to_change(operation, directory, block);
  if (buffer && !*buffer) return refuse(EIO);
  return buffer;
}

}  // namespace

VfsResult<std::optional<FoundName>> find_name(InodeStore& store, CoreInode& directory,
                                              std::string_view name) {
  std::optional<FoundName> found;
  std::optional<std::int64_t> room;
  std::int64_t looked_at = 0;
  const std::uint64_t changes = directory.entry_changes;
  auto searched =
      each_block(store, directory, [&](std::int64_t block, std::span<const std::byte> chunks) {
        const NameSearch seen = search_block(chunks, name);
        looked_at += seen.entries;
        if (seen.room && !room) room = block;
        if (seen.inode != 0)
          found = FoundName{.inode = seen.inode, .block = block, .offset = seen.offset};
        return found.has_value();
      });
  store.cpu.charge(os::Cost::directory_entry, looked_at);
  if (!searched) return forward_errno(searched);
  if (!found)
    directory.missed = MissedName{.name = std::string(name), .room = room, .changes = changes};
  return found;
}

VfsResult<std::int64_t> make_room(InodeStore& store, Operation& operation, CoreInode& directory,
                                  std::string_view name) {
  const MissedName& missed = directory.missed;
  invariant(missed.changes == directory.entry_changes && missed.name == name,
            "tree: a lookup under the same lock must fail before a name is added");
  if (missed.room) return *missed.room;
  return store.grow_directory(operation, directory);
}

VfsResult<void> add_name(InodeStore& store, Operation& operation, CoreInode& directory,
                         CoreInode& target, const NewName& added) {
  store.cpu.charge(os::Cost::name_changed);
  TRY(auto buffer, directory_block_to_change(store, operation, directory, added.block));
  const auto entry = add_entry(chunks_of(store, directory, added.block, buffer), added.name,
                               target.number, entry_type(target.attributes.mode));
  if (!entry) return refuse(EIO);
  touch_directory(store, directory);
  return store.link_added(operation,
                          {.directory = directory,
                           .block = added.block,
                           .offset = entry->offset,
                           .name = added.name,
                           .target = target,
                           .cause = added.cause,
                           .raises_directory = added.raises_directory,
                           .others_follow = added.others_follow,
                           .moved = entry->moved},
                          std::move(buffer));
}

VfsResult<void> replace_name(InodeStore& store, Operation& operation, CoreInode& directory,
                             CoreInode& target, const ChangedName& changed) {
  store.cpu.charge(os::Cost::name_changed);
  const FoundName& found = changed.at;
  TRY(auto buffer, directory_block_to_change(store, operation, directory, found.block));
  set_entry(buffer.bytes(), found.offset, target.number, entry_type(target.attributes.mode));
  touch_directory(store, directory);
  return store.link_added(operation,
                          {.directory = directory,
                           .block = found.block,
                           .offset = found.offset,
                           .name = changed.name,
                           .target = target,
                           .cause = changed.cause,
                           .raises_directory = changed.raises_directory,
                           .others_follow = true,
                           .replaced = changed.replaced},
                          std::move(buffer));
}

VfsResult<void> remove_name(InodeStore& store, Operation& operation, CoreInode& directory,
                            const RemovedName& removed) {
  store.cpu.charge(os::Cost::name_changed);
  const FoundName& found = removed.at;
  TRY(auto buffer, directory_block_to_change(store, operation, directory, found.block));
  remove_entry(buffer.bytes(), found.offset);
  touch_directory(store, directory);
  return store.link_removed(operation,
                            {.directory = directory,
                             .block = found.block,
                             .offset = found.offset,
                             .name = removed.name,
                             .cause = removed.cause,
                             .dropped = removed.dropped},
                            std::move(buffer));
}

VfsResult<bool> is_empty(InodeStore& store, CoreInode& directory) {
  bool empty = true;
  auto searched =
      each_block(store, directory, [&](std::int64_t, std::span<const std::byte> chunks) {
        empty = is_empty_directory_block(chunks);
        return !empty;
      });
  if (!searched) return forward_errno(searched);
  return empty;
}

VfsResult<std::vector<ListedName>> list_names(InodeStore& store, CoreInode& directory) {
  std::vector<ListedName> names;
  std::int64_t looked_at = 0;
  auto searched =
      each_block(store, directory, [&](std::int64_t, std::span<const std::byte> chunks) {
        DirectoryCursor cursor(chunks);
        while (const auto entry = cursor.next()) {
          ++looked_at;
          if (entry->inode == 0 || entry->is_dot() || entry->is_dot_dot()) continue;
          names.push_back(
              {.name = std::string(entry->name), .inode = entry->inode, .type = entry->type});
        }
        return false;
      });
  store.cpu.charge(os::Cost::directory_entry, looked_at);
  if (!searched) return forward_errno(searched);
  return names;
}

}  // namespace headcrash::tree
