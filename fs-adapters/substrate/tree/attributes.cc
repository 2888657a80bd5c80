// Part of the tree (file_system.h): operations on attributes, and other operations that concern
// neither names nor file contents.

#include <cerrno>

#include "fs-adapters/substrate/tree/file_system.h"

namespace headcrash::tree {
namespace {

std::int64_t nanoseconds_of(const Timestamp& time) {
  return time.seconds * kNsPerSecond + time.nanoseconds;
}

Timestamp timestamp_of(std::int64_t ns) {
  std::int64_t seconds = ns / kNsPerSecond;
  if (ns % kNsPerSecond < 0) --seconds;
  return {.seconds = static_cast<std::int32_t>(seconds),
          .nanoseconds = static_cast<std::int32_t>(ns - seconds * kNsPerSecond)};
}

}  // namespace

FileSystem::FileSystem(std::unique_ptr<InodeStore> store)
    : store_(std::move(store)), rename_lock_(store_->executor) {}

FileSystem::~FileSystem() = default;

void FileSystem::close_all() {
  for (auto& file : files_) file.reset();
}

VfsResult<void> FileSystem::change(const std::function<VfsResult<void>(Operation&)>& body) {
  enter();
  auto done = store_->change(body);
  return done && store_->writes_through() ? syncfs() : done;
}

VfsResult<FileStatus> FileSystem::stat(std::string_view path) {
  enter();
  TRY(auto inode, walk(path, LastLink::keep, nullptr));
  const Attributes& its = inode->attributes;
  FileType type = FileType::other;
  if (its.is_regular()) type = FileType::regular;
  if (its.is_directory()) type = FileType::directory;
  if (its.is_symlink()) type = FileType::symlink;
  return FileStatus{
      .inode = inode->number,
      .type = type,
      .mode = its.mode & kPermissionMask,
      .links = inode->effective_links(),
      .size_bytes = its.size_bytes,
      .allocated_bytes = store_->allocated_bytes(*inode),
      .modified_ns = nanoseconds_of(its.modified),
      .accessed_ns = nanoseconds_of(its.accessed),
      .changed_ns = nanoseconds_of(its.changed),
      .user = its.user,
      .group = its.group,
      .generation = its.generation,
  };
}

VfsResult<void> FileSystem::chmod(std::string_view path, std::uint32_t mode) {
  return set_attributes(path, {.mode = mode});
}

VfsResult<void> FileSystem::set_modified(std::string_view path, std::int64_t modified_ns) {
  return set_attributes(path, {.modified_ns = modified_ns});
}

VfsResult<void> FileSystem::set_attributes(std::string_view path, const AttributeChanges& changes) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto inode, walk(path, LastLink::follow, &operation));
    const InodeLock lock(*inode);
    Attributes& its = inode->attributes;
    if (changes.mode)
      its.mode =
          static_cast<std::uint16_t>((its.mode & kTypeMask) | (*changes.mode & kPermissionMask));
    its.user = changes.user.value_or(its.user);
    its.group = changes.group.value_or(its.group);
    if (changes.accessed_ns) its.accessed = timestamp_of(*changes.accessed_ns);
    if (changes.modified_ns) its.modified = timestamp_of(*changes.modified_ns);
    its.changed = store_->now();
    store_->mark_changed(*inode);
    return {};
  });
}

VfsResult<void> FileSystem::fsync_directory(std::string_view path) {
  return change([&](Operation& operation) -> VfsResult<void> {
    TRY(auto inode, walk(path, LastLink::follow, &operation));
    const InodeLock lock(*inode);
    if (!inode->attributes.is_directory()) return refuse(ENOTDIR);
    return sync_inode(operation, *inode, SyncExtent::everything);
  });
}

VfsResult<void> FileSystem::setxattr(std::string_view, std::string_view,
                                     std::span<const std::byte>) {
  return refuse(ENOTSUP);
}
VfsResult<std::vector<std::byte>> FileSystem::getxattr(std::string_view, std::string_view) {
  return refuse(ENOTSUP);
}
VfsResult<void> FileSystem::removexattr(std::string_view, std::string_view) {
  return refuse(ENOTSUP);
}
VfsResult<std::vector<std::string>> FileSystem::listxattr(std::string_view) {
  return refuse(ENOTSUP);
}

void FileSystem::cpu(std::int64_t ns) {
  store_->cpu.use(ns);
}

void FileSystem::start_program() {
  store_->cpu.charge(os::Cost::process_created);
}

}  // namespace headcrash::tree
