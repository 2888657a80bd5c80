#pragma once
// The files that a workload keeps open with `open PATH %NAME` (operation.h). All threads of a
// workload share one OpenFiles object.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "fs-adapters/vfs.h"
#include "harness/workload/operation.h"

namespace headcrash::workload {

class OpenFiles {
 public:
  /// `vfs` must outlive this object.
  explicit OpenFiles(Vfs& vfs) : vfs_(vfs) {}
  /// Closes all files that are still open.
  ~OpenFiles();
  OpenFiles(const OpenFiles&) = delete;
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// Opens a file. Fails with EBUSY if the thread already uses this %NAME, and with EMFILE if
  /// kOpenFilesMost files are open.
  VfsResult<void> open(std::uint8_t thread, const std::string& name, const std::string& path);
  /// Opens a file without a name (O_TMPFILE). Fails for the same reasons as open().
  VfsResult<void> make_nameless(std::uint8_t thread, const std::string& name);
  VfsResult<void> close(std::uint8_t thread, const std::string& name);
  /// Returns an open file. Fails with EBADF if the thread has no open file with this %NAME.
  VfsResult<FileHandle> find(std::uint8_t thread, const std::string& name) const;

 private:
  VfsResult<void> keep(std::uint8_t thread, const std::string& name, const auto& open);

  using Key = std::pair<std::uint8_t, std::string>;
  Vfs& vfs_;
  mutable std::mutex mutex_;
  std::map<Key, FileHandle> files_;
};

}  // namespace headcrash::workload
