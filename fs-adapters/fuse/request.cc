// Converts results to replies (request.h).
#include "fs-adapters/fuse/request.h"

namespace headcrash::fuse {
namespace {

constexpr std::uint32_t kBlockBytes = 4096;
constexpr std::uint32_t kStatUnitBytes = 512;

timespec timespec_of(std::int64_t ns) {
  std::int64_t seconds = ns / kNsPerSecond;
  if (ns % kNsPerSecond < 0) --seconds;
  return {.tv_sec = seconds, .tv_nsec = ns - seconds * kNsPerSecond};
}

}  // namespace

mode_t type_bits(FileType type) {
  switch (type) {
    case FileType::regular:
      return S_IFREG;
    case FileType::directory:
      return S_IFDIR;
    case FileType::symlink:
      return S_IFLNK;
    case FileType::whiteout:
    case FileType::fifo:
    case FileType::other:
      break;
  }
  return 0;
}

std::int64_t nanoseconds_of(const timespec& time) {
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

struct stat stat_of(const FileStatus& status) {
  struct stat told = {};
  told.st_ino = status.inode;
  // The kernel requires a known type for each inode. Objects of other types are therefore reported
  // as sockets, which cannot be opened.
  const mode_t type = type_bits(status.type);
  told.st_mode = (type != 0 ? type : S_IFSOCK) | status.mode;
  told.st_nlink = status.links;
  told.st_uid = status.user;
  told.st_gid = status.group;
  told.st_size = static_cast<off_t>(status.size_bytes);
  told.st_blksize = kBlockBytes;
  told.st_blocks = static_cast<blkcnt_t>(status.allocated_bytes / kStatUnitBytes);
  told.st_atim = timespec_of(status.accessed_ns);
  told.st_mtim = timespec_of(status.modified_ns);
  told.st_ctim = timespec_of(status.changed_ns);
  return told;
}

VfsResult<fuse_entry_param> entry_of(Service& service, const std::string& path) {
  const auto status = service.vfs.stat(path);
  if (!status) return refuse(status.error().value);
  fuse_entry_param entry = {};
  entry.ino = service.nodes.remember({.inode = status->inode, .generation = status->generation});
  entry.attr = stat_of(*status);
  entry.attr_timeout = entry.entry_timeout = kKeptSeconds;
  return entry;
}

VfsResult<void> give_to_caller(fuse_req_t request, const std::string& path, Made made) {
  const fuse_ctx* const caller = fuse_req_ctx(request);
  if (caller->uid == 0 && caller->gid == 0) return {};
  Vfs& vfs = service_of(request).vfs;
  const auto given = vfs.set_attributes(path, {.user = caller->uid, .group = caller->gid});
  if (!given) (void)(made == Made::directory ? vfs.rmdir(path) : vfs.unlink(path));
  return given;
}

}  // namespace headcrash::fuse
