#pragma once
// flock(2) locks. A lock is released when its owner closes the file or exits. The locks also
// exclude processes in other PID namespaces and containers.

#include <filesystem>
#include <optional>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::base {

/// Locks an open file or directory. Returns false if another descriptor holds the lock.
bool try_flock(const Descriptor& file);

/// Locks an open image, for one writer or any number of readers, until all copies of the descriptor
/// are closed. Fails if another program holds a conflicting lock. Succeeds without a lock on file
/// systems that do not support locks.
Result<void> lock_image(int file, const std::string& path, bool writes);

/// Returns true if `path` still names this open file or directory.
bool is_at(const Descriptor& file, const std::filesystem::path& path);

/// A lock file that exists while its lock is held.
class FileLock {
 public:
  /// Returns nullopt if another owner holds the lock. If the file cannot be created (for example in
  /// a read-only directory), succeeds without a lock, so several owners may exist at the same time.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(std::filesystem::path path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace headcrash::base
