#pragma once
// Which process executes a run.
//
// DATABASE.lock beside the database has 128 bytes a run, in which the process that executes the run
// locks its range and writes who it is. The kernel drops the lock when the process ends, however it
// ends, so that a run whose owner was killed can be resumed at once; other runs of the same
// database, shards among them, are not affected. The file goes with its last user; one that a
// killed process left behind means nothing.

#include <filesystem>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"

namespace headcrash::run {

class RunLock {
 public:
  RunLock() = default;  ///< of no run
  /// Waits until no other process is between here and its opened(): what is found out in between
  /// about the database's runs stays true until the run is locked.
  static Result<RunLock> open(const std::filesystem::path& database);
  /// Locks the run. Errors: it is being executed by another process (or by another thread of this
  /// one).
  Result<void> take(std::int64_t run);
  /// Lets the next one open.
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
