#pragma once
// A real block device or file, used in a guest by file systems behind FUSE.
//
// Threads make the system calls, with buffers that direct I/O accepts. start() copies a write's
// bytes; a read's bytes are delivered on the executor's thread. A flush is fdatasync(). The
// driver's outstanding requests (DiskQueueOptions) bound both the work queued for threads and the
// events posted to the clock.

#include <memory>
#include <string>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/clock.h"
#include "plugin/base/result.h"

namespace headcrash::os {

struct RawDiskOptions {
  unsigned threads = 4;   ///< maximum number of requests in flight in the kernel; others wait
  bool buffered = false;  ///< use the page cache, for file systems without direct I/O
};

class RawDisk final : public BlockDevice {
 public:
  /// Opens a device or file. No other program can then open it for writing with this class. Fails
  /// if the path cannot be opened, is in use, is neither a device nor a file, is not a whole number
  /// of sectors, or does not support direct I/O in sectors of 512 bytes. Errors name the path.
  static Result<std::unique_ptr<RawDisk>> open(const std::string& path, WallClock& clock,
                                               const RawDiskOptions& options = {});
  /// Waits for the threads to finish their work. Completions posted after that are dropped.
  ~RawDisk() override;
  RawDisk(const RawDisk&) = delete;
  RawDisk& operator=(const RawDisk&) = delete;

  std::uint64_t sectors() const override;
  /// As reported by the kernel (queue/write_cache); true if unknown.
  bool volatile_cache() const override;
  void start(const BlockRequest& request, BlockDone& done) override;
  /// Closes the device early. No request may be in flight, and none may be started afterwards.
  void close();

 private:
  struct State;
  void end_threads();
  explicit RawDisk(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace headcrash::os
