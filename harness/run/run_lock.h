#pragma once
// The lock held by the process that executes a run.
//
// DATABASE.lock, next to the database, has a range of 128 bytes for each run. The executing process
// locks the range of its run and writes its identity there. The kernel drops the lock when the
// process ends, so a run whose owner was killed can be resumed at once. Other runs in the same
// database, including shards, are not affected. The last process that uses the file removes it. A
// file left by a killed process is harmless.

#include <filesystem>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::run {

class RunLock {
 public:
  RunLock() = default;  ///< locks no run
  /// Opens the lock file. Until opened() is called, other processes wait in open(). What the caller
  /// reads from the database in between is therefore still true when the caller locks the run.
  static Result<RunLock> open(const std::filesystem::path& database);
  /// Locks the run. Fails if the run is being executed by another process or by another thread of
  /// this process.
  Result<void> take(std::int64_t run);
  /// Releases the lock that makes other processes wait in open().
  void opened();

  ~RunLock();
  RunLock(RunLock&&) noexcept = default;
  RunLock& operator=(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::filesystem::path file, base::Descriptor descriptor)
      : file_(std::move(file)), descriptor_(std::move(descriptor)) {}
  void release();

  std::filesystem::path file_;
  base::Descriptor descriptor_;
};

}  // namespace headcrash::run
