// Stores open files by thread and name (open_files.h). A thread uses only its own files, so the
// lock need only protect the map.
#include "harness/workload/open_files.h"

#include <cerrno>

namespace headcrash::workload {

OpenFiles::~OpenFiles() {
  for (const auto& [key, file] : files_) vfs_.close(file);
}

VfsResult<void> OpenFiles::keep(std::uint8_t thread, const std::string& name, const auto& open) {
  {
    const std::lock_guard lock(mutex_);
    if (files_.contains({thread, name})) return tl::unexpected(Errno{.value = EBUSY});
    if (files_.size() >= kOpenFilesMost) return tl::unexpected(Errno{.value = EMFILE});
  }
  const VfsResult<FileHandle> file = open();
  if (!file) return tl::unexpected(file.error());
  const std::lock_guard lock(mutex_);
  files_.emplace(Key{thread, name}, *file);
  return {};
}

VfsResult<void> OpenFiles::open(std::uint8_t thread, const std::string& name,
                                const std::string& path) {
  return keep(thread, name, [&] {
    const VfsResult<FileHandle> file = vfs_.open(path, {});
    return file || file.error().value != EISDIR ? file : vfs_.open_directory(path);
  });
}

VfsResult<void> OpenFiles::make_nameless(std::uint8_t thread, const std::string& name) {
  return keep(thread, name, [&] { return vfs_.make_nameless(); });
}

VfsResult<void> OpenFiles::close(std::uint8_t thread, const std::string& name) {
  TRY(const auto file, find(thread, name));
  {
    const std::lock_guard lock(mutex_);
    files_.erase({thread, name});
  }
  return vfs_.close(file);
}

VfsResult<FileHandle> OpenFiles::find(std::uint8_t thread, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto at = files_.find({thread, name});
  if (at == files_.end()) return tl::unexpected(Errno{.value = EBADF});
  return at->second;
}

}  // namespace headcrash::workload
