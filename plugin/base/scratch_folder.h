#pragma once
// A folder in the system's temporary folder for sockets and logs, gone at the end of its scope.
//
// Its name begins with headcrash-PID-: what a killed process leaves is swept away by the next one.

#include <filesystem>
#include <utility>

#include "plugin/base/result.h"

namespace headcrash::base {

class ScratchFolder {
 public:
  /// Readable for this user only.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

/// Removes the scratch folders whose processes are gone.
void sweep_scratch_folders();

}  // namespace headcrash::base
