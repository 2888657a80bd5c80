#pragma once
// What the functions of the table share: from a request to its file system, and from results to
// answers.

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

/// Errors: a node that the kernel has forgotten.
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

/// How long the kernel may keep names and attributes: nobody but it changes anything.
inline constexpr double kKeptSeconds = 24.0 * 3600;

/// 0 for what is not a file, directory or symbolic link: of an entry in a directory that says
/// "unknown", so that who wants to know asks for its attributes.
mode_t type_bits(FileType type);
struct stat stat_of(const FileStatus& status);
std::int64_t nanoseconds_of(const timespec& time);

/// What is at the path, counted as one more reference of the kernel's; it must be reported to it.
VfsResult<fuse_entry_param> entry_of(Service& service, const std::string& path);

/// What was just made gets the caller's user and group. If that fails it is removed again.
enum class Made : std::uint8_t { directory, other };
VfsResult<void> give_to_caller(fuse_req_t request, const std::string& path, Made made);

}  // namespace headcrash::fuse
