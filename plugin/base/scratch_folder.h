#pragma once
// A folder in the system's temporary folder for sockets and logs, gone at the end of its scope.
//
// Its name begins with headcrash-PID-, and its owner holds a lock on it: what a killed process
// leaves is swept away by the next one. The PID alone does not tell, since other PID namespaces
// (containers) may use the same folder. The lock does, and the PID covers programs of before the
// lock.

#include <filesystem>
#include <utility>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::base {

class ScratchFolder {
 public:
  /// Readable for this user only.
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

/// Removes the scratch folders of which neither a process nor a lock is left.
void sweep_scratch_folders();

}  // namespace headcrash::base
