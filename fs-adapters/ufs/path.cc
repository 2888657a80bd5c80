// The mounted file system (file_system.h): from paths to inodes.

#include <cerrno>
#include <deque>

#include "fs-adapters/ufs/file_blocks.h"
#include "fs-adapters/ufs/file_system.h"

namespace headcrash::ufs {
namespace {

constexpr int kLinksFollowedMax = 40;        // as POSIX systems: then ELOOP
constexpr std::size_t kPathBytesMax = 4095;  // PATH_MAX without its zero

void put_in_front(std::string_view path, std::deque<std::string>& components) {
  std::deque<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (slash > at && path.substr(at, slash - at) != ".") parts.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  components.insert(components.begin(), parts.begin(), parts.end());
}

}  // namespace

VfsResult<std::string> FileSystem::target_of(CoreInode& link) {
  const InodeLock lock(link);
  if (!link.disk.is_symlink()) return refuse(EINVAL);
  if (pointers_are_text(link.disk, volume_->super.inline_target_max)) return inline_target(link.disk);
  std::string target;
  for (std::int64_t block = 0; target.size() < link.disk.size_bytes; ++block) {
    const auto at = find_block(*volume_, link, block);
    if (!at) return pass_on_errno(at);
    if (*at == 0 || link.disk.size_bytes > kPathBytesMax) return refuse(EIO);
    auto buffer = read_file_block(*volume_, link, block, *at);
    if (!buffer) return pass_on_errno(buffer);
    const std::size_t count =
        std::min<std::size_t>(buffer->bytes().size(), link.disk.size_bytes - target.size());
    target.append(reinterpret_cast<const char*>(buffer->bytes().data()), count);
  }
  return target;
}

VfsResult<InodeHandle> FileSystem::child(CoreInode& directory, std::string_view name, Operation* operation) {
  if (!directory.disk.is_directory()) return refuse(ENOTDIR);
  if (name.size() > kNameBytesMax) return refuse(ENAMETOOLONG);
  const auto found = find_name(*volume_, directory, name);
  if (!found) return pass_on_errno(found);
  if (!*found) return refuse(ENOENT);
  auto inode = volume_->inodes.get((*found)->inode, operation);
  // An entry that leads to nothing: the damage is on the disk.
  if (inode && !(*inode)->disk.allocated()) return refuse(EIO);
  return inode;
}

VfsResult<InodeHandle> FileSystem::start_of(std::string_view& path, Operation* operation) {
  const auto name = InodeName::take(path);
  if (!name) return volume_->inodes.get(kRootInode, operation);
  if (!volume_->geometry.is_inode(static_cast<InodeNumber>(name->inode)) || name->inode >> 32 != 0)
    return refuse(ESTALE);
  auto inode = volume_->inodes.get(static_cast<InodeNumber>(name->inode), operation);
  if (!inode) return inode;
  // Whoever is just removing it holds the lock until nothing is left.
  const InodeLock lock(**inode);
  const Inode& disk = (*inode)->disk;
  if (!disk.allocated() || disk.generation != name->generation) return refuse(ESTALE);
  return inode;
}

VfsResult<InodeHandle> FileSystem::walk(std::string_view path, LastLink last, Operation* operation) {
  if (path.size() > kPathBytesMax) return refuse(ENAMETOOLONG);
  auto at = start_of(path, operation);
  if (!at) return at;
  std::deque<std::string> components;
  put_in_front(path, components);
  for (int followed = 0; !components.empty();) {
    const std::string name = std::move(components.front());
    components.pop_front();
    volume_->cpu.use(volume_->cpu.costs().path_component);
    VfsResult<InodeHandle> next;
    {
      const InodeLock lock(**at);
      next = child(**at, name, operation);
    }
    if (!next) return next;
    if ((*next)->disk.is_symlink() && (!components.empty() || last == LastLink::follow)) {
      if (++followed > kLinksFollowedMax) return refuse(ELOOP);
      const auto target = target_of(**next);
      if (!target) return pass_on_errno(target);
      put_in_front(*target, components);
      if (!target->starts_with('/')) continue;
      at = volume_->inodes.get(kRootInode, operation);
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
  auto directory = walk(folder, LastLink::follow, operation);
  if (!directory) return pass_on_errno(directory);
  if (!(*directory)->disk.is_directory()) return refuse(ENOTDIR);
  return NameInDirectory{.directory = std::move(*directory), .name = std::string(name)};
}

}  // namespace headcrash::ufs
