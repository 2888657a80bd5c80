#pragma once
// A real block device or file. File systems that run behind FUSE in a guest use it.
//
// Threads make the system calls, with buffers that are aligned for direct I/O. start() copies the
// bytes of a write; the bytes of a read are delivered on the executor's thread. A flush is
// fdatasync(). The driver limits the number of outstanding requests (DiskQueueOptions), which
// bounds both the work queued for the threads and the events posted to the clock.

#include <memory>
#include <string>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/clock.h"
#include "plugin/base/result.h"

namespace headcrash::os {

struct RawDiskOptions {
  /// Maximum number of requests that are in flight in the kernel; further requests wait.
  unsigned threads = 4;
  bool buffered = false;  ///< use the page cache, for file systems without direct I/O
};

class RawDisk final : public BlockDevice {
 public:
  /// Opens a device or file and locks it, so that no other program that uses this class can open it
  /// for writing. Fails if the path cannot be opened, is in use, is neither a device nor a file, is
  /// not a whole number of sectors, or does not support direct I/O in sectors of 512 bytes. Errors
  /// name the path.
  static Result<std::unique_ptr<RawDisk>> open(const std::string& path, WallClock& clock,
                                               const RawDiskOptions& options = {});
  /// Waits until the threads have finished their work. Completions that are posted after that are
  /// dropped.
  ~RawDisk() override;
  RawDisk(const RawDisk&) = delete;
  RawDisk& operator=(const RawDisk&) = delete;

  std::uint64_t sectors() const override;
  /// Returns the value that the kernel reports (queue/write_cache), or true if it is unknown.
  bool volatile_cache() const override;
  void start(const BlockRequest& request, BlockDone& done) override;
  /// Closes the device before destruction. No request may be in flight, and none may be started
  /// afterwards.
  void close();

 private:
  struct State;
  void end_threads();
  explicit RawDisk(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace headcrash::os
