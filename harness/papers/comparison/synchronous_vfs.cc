// Calls fsync after each change (synchronous_vfs.h).
#include "harness/papers/comparison/synchronous_vfs.h"

namespace headcrash::experiment::compare {
namespace {

std::string_view directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

VfsResult<FileHandle> SynchronousVfs::open(std::string_view path, const OpenOptions& options) {
  const bool is_new = options.create && (options.exclusive || !vfs_.stat(path));
  auto file = vfs_.open(path, options);
  if (!file || !is_new) return file;
  if (auto named = then_name({}, path); !named) {
    (void)vfs_.close(*file);
    return forward_errno(named);
  }
  return file;
}

VfsResult<void> SynchronousVfs::rename(std::string_view from, std::string_view to,
                                       RenameMode mode) {
  const auto done = then_name(vfs_.rename(from, to, mode), to);
  return directory_of(from) == directory_of(to) ? done : then_name(done, from);
}

VfsResult<void> SynchronousVfs::then_name(const VfsResult<void>& done, std::string_view path) {
  return done ? vfs_.fsync_directory(directory_of(path)) : done;
}

VfsResult<void> SynchronousVfs::then_attributes(const VfsResult<void>& done,
                                                std::string_view path) {
  if (!done) return done;
  const auto file = vfs_.open(path, {});
  if (!file) return vfs_.fsync_directory(path);
  const auto synced = vfs_.fsync(*file);
  const auto closed = vfs_.close(*file);
  return synced ? closed : synced;
}

}  // namespace headcrash::experiment::compare
