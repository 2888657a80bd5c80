// Part of the tree (file_system.h): creating and removing names.

#include <array>
#include <cerrno>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::tree {

namespace {

/// Writes a new directory's first block, with "." and "..".
VfsResult<void> fill_directory(InodeStore& store, Operation& operation, CoreInode& directory,
                               InodeNumber parent) {
  std::array<std::byte, kChunkBytes> names{};
  format_directory(names, directory.number, parent);
  const std::uint32_t bytes = store.new_directory_bytes();
  const auto block =
      store.block_for_writing(operation, directory, {.bytes = bytes, .first_contents = names});
  if (!block) return forward_errno(block);
  directory.attributes.size_bytes = bytes;
  return {};
}

}  // namespace

VfsResult<InodeHandle> FileSystem::make_node(Operation& operation, CoreInode& directory,
                                             std::string_view name, std::uint16_t mode,
                                             std::string_view target) {
  const bool is_directory = (mode & kTypeMask) == kTypeDirectory;
  // The directory was removed while the path was being resolved.
  if (directory.effective_links() == 0) return refuse(ENOENT);
  if (is_directory && directory.attributes.links >= kLinksMax) return refuse(EMLINK);
  TRY(const auto room, make_room(*store_, operation, directory, name));
  auto made = store_->make(operation, directory, is_directory);
  if (!made) return made;
  CoreInode& inode = **made;
  const InodeLock lock(inode);
  inode.attributes.mode = mode;
  inode.attributes.links = is_directory ? 2 : 1;
  inode.attributes.accessed = inode.attributes.modified = inode.attributes.changed = store_->now();
  store_->mark_changed(inode);
  VfsResult<void> filled;
  if (is_directory) filled = fill_directory(*store_, operation, inode, directory.number);
  if (!target.empty()) filled = store_->write_target(operation, inode, target);
  if (!filled) {
    inode.attributes.links = 0;  // removes the inode when its handle is released
    return forward_errno(filled);
  }
  if (is_directory) {
    ++directory.attributes.links;
    store_->mark_changed(directory);
  }
  const auto added = add_name(
      *store_, operation, directory, inode,
      {.name = name, .block = room, .cause = NameCause::create, .raises_directory = is_directory});
  if (!added) return forward_errno(added);
  return made;
}

VfsResult<void> FileSystem::make_at(std::string_view path, std::uint16_t mode,
                                    std::string_view target) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto at, walk_to_parent(path, &operation));
    const InodeLock lock(*at.directory);
    TRY(const auto found, find_name(*store_, *at.directory, at.name));
    if (found) return refuse(EEXIST);
    const auto made = make_node(operation, *at.directory, at.name, mode, target);
    if (!made) return forward_errno(made);
    return {};
  });
}

VfsResult<void> FileSystem::mkdir(std::string_view path, std::uint32_t mode) {
  return make_at(path, static_cast<std::uint16_t>(kTypeDirectory | (mode & kPermissionMask)), {});
}

VfsResult<void> FileSystem::symlink(std::string_view target, std::string_view path) {
  if (target.empty()) return refuse(ENOENT);
  if (target.size() > store_->symlink_bytes_max()) return refuse(ENAMETOOLONG);
  return make_at(path, kTypeSymlink | 0777, target);
}

VfsResult<void> FileSystem::remove(std::string_view path, bool directory) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto at, walk_to_parent(path, &operation));
    // Declared first, so that the handle is destroyed after all locks have been released.
    // Destroying the handle may remove the inode, and that may take a long time.
    InodeHandle gone;
    InodeLock parent_lock(*at.directory);
    TRY(const auto found, find_name(*store_, *at.directory, at.name));
    if (!found) return refuse(ENOENT);
    TRY(auto inode, named_inode(*at.directory, at.name, found->inode, &operation));
    gone = std::move(inode);
    // Damaged directories may form a cycle. Two fibers may then lock the directories in opposite
    // orders, so a deadlock is possible here.
    if (gone->lock.would_deadlock()) return refuse(EIO);
    const InodeLock lock(*gone);
    if (gone->attributes.is_directory() != directory) return refuse(directory ? ENOTDIR : EISDIR);
    if (directory) {
      TRY(const auto empty, is_empty(*store_, *gone));
      if (!empty) return refuse(ENOTEMPTY);
    }
    gone->attributes.changed = store_->now();
    store_->mark_changed(*gone);
    return remove_name(*store_, operation, *at.directory,
                       {.name = at.name,
                        .at = *found,
                        .cause = NameCause::unlink,
                        .dropped = dropped_from(*at.directory, *gone)});
  });
}

VfsResult<void> FileSystem::unlink(std::string_view path) {
  return remove(path, false);
}
VfsResult<void> FileSystem::rmdir(std::string_view path) {
  return remove(path, true);
}

VfsResult<void> FileSystem::link(std::string_view existing, std::string_view path) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto inode, walk(existing, LastLink::keep, &operation));
    if (inode->attributes.is_directory()) return refuse(EPERM);
    TRY(auto at, walk_to_parent(path, &operation));
    const InodeLock parent_lock(*at.directory);
    TRY(const auto found, find_name(*store_, *at.directory, at.name));
    if (found) return refuse(EEXIST);
    if (at.directory->effective_links() == 0) return refuse(ENOENT);
    const InodeLock lock(*inode);
    CoreInode& target = *inode;
    // The target was removed during the path walk.
    if (target.effective_links() == 0) return refuse(ENOENT);
    if (target.attributes.links >= kLinksMax) return refuse(EMLINK);
    TRY(const auto room, make_room(*store_, operation, *at.directory, at.name));
    ++target.attributes.links;
    target.attributes.changed = store_->now();
    store_->mark_changed(target);
    return add_name(*store_, operation, *at.directory, target,
                    {.name = at.name, .block = room, .cause = NameCause::link});
  });
}

VfsResult<std::string> FileSystem::readlink(std::string_view path) {
  enter();
  TRY(auto inode, walk(path, LastLink::keep, nullptr));
  return target_of(*inode);
}

VfsResult<std::vector<DirectoryEntry>> FileSystem::list(std::string_view path) {
  enter();
  TRY(auto inode, walk(path, LastLink::follow, nullptr));
  const InodeLock lock(*inode);
  if (!inode->attributes.is_directory()) return refuse(ENOTDIR);
  TRY(const auto names, list_names(*store_, *inode));
  std::vector<DirectoryEntry> entries;
  for (const ListedName& name : names) {
    FileType type = FileType::other;
    if (name.type == entry_type(kTypeRegular)) type = FileType::regular;
    if (name.type == entry_type(kTypeDirectory)) type = FileType::directory;
    if (name.type == entry_type(kTypeSymlink)) type = FileType::symlink;
    entries.push_back({.name = name.name, .type = type, .inode = name.inode});
  }
  return entries;
}

}  // namespace headcrash::tree
