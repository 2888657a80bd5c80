#pragma once
// Helpers for the FUSE operations: access to the file system to which a request belongs, and
// replies.

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "fs-adapters/fuse/operations.h"

namespace headcrash::fuse {

inline Service& service_of(fuse_req_t request) {
  return *static_cast<Service*>(fuse_req_userdata(request));
}

inline void reply_error(fuse_req_t request, Errno error) {
  fuse_reply_err(request, error.value);
}
inline void reply_done(fuse_req_t request, const VfsResult<void>& done) {
  fuse_reply_err(request, done ? 0 : done.error().value);
}

/// Returns the path of a node. Fails with ESTALE if the kernel has forgotten the node.
inline VfsResult<std::string> path_of(fuse_req_t request, fuse_ino_t node) {
  const auto inode = service_of(request).nodes.find(node);
  if (!inode) return refuse(ESTALE);
  return inode->path();
}
inline VfsResult<std::string> path_of(fuse_req_t request, fuse_ino_t parent, const char* name) {
  auto path = path_of(request, parent);
  if (path) *path += std::string("/") + name;
  return path;
}

/// Time for which the kernel may cache names and attributes. A long time is safe, because every
/// change passes through the kernel.
inline constexpr double kKeptSeconds = 24.0 * 3600;

/// Returns the S_IFMT bits of a file, directory or symbolic link, and 0 for any other type. In a
/// directory entry, 0 means "unknown", so programs call stat() to find out.
mode_t type_bits(FileType type);
struct stat stat_of(const FileStatus& status);
std::int64_t nanoseconds_of(const timespec& time);

/// Returns the reply to a lookup of this path. Increments the inode's lookup count, because the
/// kernel counts each such reply. The caller must therefore send the reply.
VfsResult<fuse_entry_param> entry_of(Service& service, const std::string& path);

enum class Made : std::uint8_t { directory, other };
/// Makes the caller the owner of a new object. On failure, removes the object: as a directory or as
/// a file, depending on `made`.
VfsResult<void> give_to_caller(fuse_req_t request, const std::string& path, Made made);

}  // namespace headcrash::fuse
