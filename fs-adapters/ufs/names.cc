// The mounted file system (file_system.h): names that come and go.

#include <array>
#include <cerrno>

#include "fs-adapters/ufs/file_blocks.h"
#include "fs-adapters/ufs/file_system.h"

namespace headcrash::ufs {

VfsResult<void> FileSystem::fill_first_block(Operation& operation, CoreInode& inode,
                                             std::span<const std::byte> contents, std::uint32_t size_bytes) {
  const auto block =
      block_for_writing(*volume_, operation, inode, {.bytes = size_bytes, .first_contents = contents});
  if (!block) return pass_on_errno(block);
  inode.disk.size_bytes = size_bytes;
  return {};
}

VfsResult<InodeHandle> FileSystem::make_node(Operation& operation, CoreInode& directory,
                                             std::string_view name, std::uint16_t mode,
                                             std::string_view target) {
  const bool is_directory = (mode & kTypeMask) == kTypeDirectory;
  if (directory.effective_links() == 0) return refuse(ENOENT);  // removed while we were on our way
  if (is_directory && directory.disk.links >= kLinksMax) return refuse(EMLINK);
  const auto room = make_room(*volume_, operation, directory, name);
  if (!room) return pass_on_errno(room);
  const auto number = volume_->allocator.allocate_inode(directory.number, is_directory);
  if (!number) return pass_on_errno(number);
  auto made = volume_->inodes.make(*number, &operation);
  if (!made) return made;
  CoreInode& inode = **made;
  const InodeLock lock(inode);
  inode.disk.mode = mode;
  inode.disk.links = is_directory ? 2 : 1;
  inode.disk.accessed = inode.disk.modified = inode.disk.changed = volume_->timestamp();
  volume_->inodes.mark_changed(inode);
  VfsResult<void> filled;
  if (is_directory) {
    std::array<std::byte, kChunkBytes> names{};
    format_directory(names, inode.number, directory.number);
    filled = fill_first_block(operation, inode, names, volume_->geometry.fragment_bytes());
  } else if (!target.empty() && target.size() < volume_->super.inline_target_max) {
    inode.disk.size_bytes = target.size();
    set_inline_target(inode.disk, target);
  } else if (!target.empty()) {
    filled = fill_first_block(operation, inode, std::as_bytes(std::span(target)),
                              static_cast<std::uint32_t>(target.size()));
  }
  if (!filled) {
    inode.disk.links = 0;  // its last user, which is this one, removes it
    return pass_on_errno(filled);
  }
  if (is_directory) {
    ++directory.disk.links;
    volume_->inodes.mark_changed(directory);
  }
  const auto added = add_name(*volume_, operation, directory, inode,
                              {.name = name, .block = *room, .raises_directory = is_directory});
  if (!added) return pass_on_errno(added);
  return made;
}

VfsResult<void> FileSystem::mkdir(std::string_view path, std::uint32_t mode) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto at = walk_to_parent(path, &operation);
    if (!at) return pass_on_errno(at);
    const InodeLock lock(*at->directory);
    const auto found = find_name(*volume_, *at->directory, at->name);
    if (!found) return pass_on_errno(found);
    if (*found) return refuse(EEXIST);
    const auto made = make_node(operation, *at->directory, at->name,
                                static_cast<std::uint16_t>(kTypeDirectory | (mode & 07777U)), {});
    if (!made) return pass_on_errno(made);
    return {};
  });
}

VfsResult<void> FileSystem::symlink(std::string_view target, std::string_view path) {
  if (target.empty()) return refuse(ENOENT);
  if (target.size() > std::min<std::size_t>(4095, volume_->geometry.block_bytes()))
    return refuse(ENAMETOOLONG);
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto at = walk_to_parent(path, &operation);
    if (!at) return pass_on_errno(at);
    const InodeLock lock(*at->directory);
    const auto found = find_name(*volume_, *at->directory, at->name);
    if (!found) return pass_on_errno(found);
    if (*found) return refuse(EEXIST);
    const auto made = make_node(operation, *at->directory, at->name, kTypeSymlink | 0777, target);
    if (!made) return pass_on_errno(made);
    return {};
  });
}

VfsResult<void> FileSystem::remove(std::string_view path, bool directory) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto at = walk_to_parent(path, &operation);
    if (!at) return pass_on_errno(at);
    InodeHandle gone;  // put last, when nothing is locked any more: that may take long
    InodeLock parent_lock(*at->directory);
    const auto found = find_name(*volume_, *at->directory, at->name);
    if (!found) return pass_on_errno(found);
    if (!*found) return refuse(ENOENT);
    auto inode = volume_->inodes.get((*found)->inode, &operation);
    if (!inode) return pass_on_errno(inode);
    gone = std::move(*inode);
    const InodeLock lock(*gone);
    if (gone->disk.is_directory() != directory) return refuse(directory ? ENOTDIR : EISDIR);
    if (directory) {
      const auto empty = is_empty(*volume_, *gone);
      if (!empty) return pass_on_errno(empty);
      if (!*empty) return refuse(ENOTEMPTY);
    }
    gone->disk.changed = volume_->timestamp();
    volume_->inodes.mark_changed(*gone);
    return remove_name(*volume_, operation, *at->directory, **found, dropped_from(*at->directory, *gone));
  });
}

VfsResult<void> FileSystem::unlink(std::string_view path) {
  return remove(path, false);
}
VfsResult<void> FileSystem::rmdir(std::string_view path) {
  return remove(path, true);
}

VfsResult<void> FileSystem::link(std::string_view existing, std::string_view path) {
  return change<void>([&](Operation& operation) -> VfsResult<void> {
    auto inode = walk(existing, LastLink::keep, &operation);
    if (!inode) return pass_on_errno(inode);
    if ((*inode)->disk.is_directory()) return refuse(EPERM);
    auto at = walk_to_parent(path, &operation);
    if (!at) return pass_on_errno(at);
    const InodeLock parent_lock(*at->directory);
    const auto found = find_name(*volume_, *at->directory, at->name);
    if (!found) return pass_on_errno(found);
    if (*found) return refuse(EEXIST);
    if (at->directory->effective_links() == 0) return refuse(ENOENT);
    const InodeLock lock(**inode);
    CoreInode& target = **inode;
    if (target.effective_links() == 0) return refuse(ENOENT);  // removed while we were on our way
    if (target.disk.links >= kLinksMax) return refuse(EMLINK);
    const auto room = make_room(*volume_, operation, *at->directory, at->name);
    if (!room) return pass_on_errno(room);
    ++target.disk.links;
    target.disk.changed = volume_->timestamp();
    volume_->inodes.mark_changed(target);
    return add_name(*volume_, operation, *at->directory, target, {.name = at->name, .block = *room});
  });
}

VfsResult<std::string> FileSystem::readlink(std::string_view path) {
  enter();
  auto inode = walk(path, LastLink::keep, nullptr);
  if (!inode) return pass_on_errno(inode);
  return target_of(**inode);
}

VfsResult<std::vector<DirectoryEntry>> FileSystem::list(std::string_view path) {
  enter();
  auto inode = walk(path, LastLink::follow, nullptr);
  if (!inode) return pass_on_errno(inode);
  const InodeLock lock(**inode);
  if (!(*inode)->disk.is_directory()) return refuse(ENOTDIR);
  const auto names = list_names(*volume_, **inode);
  if (!names) return pass_on_errno(names);
  std::vector<DirectoryEntry> entries;
  for (const ListedName& name : *names) {
    FileType type = FileType::other;
    if (name.type == entry_type(kTypeRegular)) type = FileType::regular;
    if (name.type == entry_type(kTypeDirectory)) type = FileType::directory;
    if (name.type == entry_type(kTypeSymlink)) type = FileType::symlink;
    entries.push_back({.name = name.name, .type = type, .inode = name.inode});
  }
  return entries;
}

}  // namespace headcrash::ufs
