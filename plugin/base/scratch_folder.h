#pragma once
// A temporary directory for sockets and logs, removed by its destructor.
//
// Its name begins with headcrash-PID-, and its owner holds a lock on it. When a process creates its
// first scratch directory, it also removes the directories of killed processes. A directory whose
// lock is held is kept, even if its owner runs in another PID namespace (a container) that shares
// the parent directory. A directory whose PID is in use is also kept, because older versions of
// headcrash do not take the lock.

#include <filesystem>
#include <utility>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::base {

class ScratchFolder {
 public:
  /// Creates a directory that only this user can access.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder(std::filesystem::path path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  Descriptor lock_;
};

/// Removes scratch directories whose owner has exited and whose lock is free.
void sweep_scratch_folders();

}  // namespace headcrash::base
