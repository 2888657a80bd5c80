#pragma once
// A lock for as long as its owner lives, also of another process, PID namespace or container:
// flock(2).

#include <filesystem>
#include <optional>

#include "plugin/base/descriptor.h"

namespace headcrash::base {

/// Locks an open file or folder if no other descriptor has; false if one has.
bool try_flock(const Descriptor& file);

/// Whether this open file or folder is still the one with that name.
bool is_at(const Descriptor& file, const std::filesystem::path& path);

/// A file that exists while somebody holds its lock.
class FileLock {
 public:
  /// Nullopt if another owner has it. Where the file cannot be made, in a folder that is read-only,
  /// the lock is held by any number of owners.
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
