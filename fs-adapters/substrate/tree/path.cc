// Part of the tree (file_system.h): path resolution.

#include <cerrno>
#include <deque>

#include "fs-adapters/substrate/tree/directory.h"
#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::tree {
namespace {

// A path that passes through more symbolic links fails with ELOOP, as in POSIX systems.
constexpr int kLinksFollowedMax = 40;

void put_in_front(std::string_view path, std::deque<std::string>& components) {
  std::deque<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at && path.substr(at, slash - at) != ".")
      parts.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  components.insert(components.begin(), parts.begin(), parts.end());
}

}  // namespace

VfsResult<std::string> FileSystem::target_of(CoreInode& link) {
  const InodeLock lock(link);
  if (!link.attributes.is_symlink()) return refuse(EINVAL);
  return store_->read_target(link);
}

VfsResult<InodeHandle> FileSystem::child(CoreInode& directory, std::string_view name,
                                         Operation* operation) {
  if (!directory.attributes.is_directory()) return refuse(ENOTDIR);
  if (name.size() > kNameBytesMax) return refuse(ENAMETOOLONG);
  TRY(const auto found, find_name(*store_, directory, name));
  if (!found) return refuse(ENOENT);
  return named_inode(directory, name, found->inode, operation);
}

VfsResult<InodeHandle> FileSystem::named_inode(const CoreInode& directory, std::string_view name,
                                               InodeNumber number, Operation* operation) {
  // An entry that refers to its own directory, or to the root, is damage. Locking that inode would
  // be a deadlock, because the directory is already locked.
  if (name != ".." && (number == directory.number || number == store_->root())) return refuse(EIO);
  auto inode = store_->get(number, operation);
  if (inode && !(*inode)->attributes.allocated()) return refuse(EIO);
  return inode;
}

VfsResult<InodeHandle> FileSystem::start_of(std::string_view& path, Operation* operation) {
  const auto name = InodeName::take(path);
  if (!name) return store_->get(store_->root(), operation);
  if (!store_->is_inode(name->inode)) return refuse(ESTALE);
  auto inode = store_->get(static_cast<InodeNumber>(name->inode), operation);
  if (!inode) return inode;
  // A fiber that removes an inode holds the inode's lock until the removal is complete. The checks
  // below therefore detect a removal.
  const InodeLock lock(**inode);
  const Attributes& its = (*inode)->attributes;
  if (!its.allocated() || its.generation != name->generation) return refuse(ESTALE);
  return inode;
}

VfsResult<InodeHandle> FileSystem::walk(std::string_view path, LastLink last,
                                        Operation* operation) {
  if (path.size() > kPathBytesMax) return refuse(ENAMETOOLONG);
  auto at = start_of(path, operation);
  if (!at) return at;
  std::deque<std::string> components;
  put_in_front(path, components);
  for (int followed = 0; !components.empty();) {
    const std::string name = std::move(components.front());
    components.pop_front();
    store_->cpu.charge(os::Cost::path_component);
    VfsResult<InodeHandle> next;
    {
      const InodeLock lock(**at);
      next = child(**at, name, operation);
    }
    if (!next) return next;
    if ((*next)->attributes.is_symlink() && (!components.empty() || last == LastLink::follow)) {
      if (++followed > kLinksFollowedMax) return refuse(ELOOP);
      TRY(const auto target, target_of(**next));
      put_in_front(target, components);
      if (!target.starts_with('/')) continue;
      at = store_->get(store_->root(), operation);
      if (!at) return at;
      continue;
    }
    at = std::move(next);
  }
  return at;
}

VfsResult<FileSystem::NameInDirectory> FileSystem::walk_to_parent(std::string_view path,
                                                                  Operation* operation) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::string_view folder = slash == std::string_view::npos ? "" : path.substr(0, slash);
  if (name.empty() || name == "." || name == "..") return refuse(name.empty() ? EBUSY : EINVAL);
  if (name.size() > kNameBytesMax) return refuse(ENAMETOOLONG);
  TRY(auto directory, walk(folder, LastLink::follow, operation));
  if (!directory->attributes.is_directory()) return refuse(ENOTDIR);
  return NameInDirectory{.directory = std::move(directory), .name = std::string(name)};
}

}  // namespace headcrash::tree
