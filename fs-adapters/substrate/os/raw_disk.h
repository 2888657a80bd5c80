#pragma once
// A real block device, or a file: in a guest, what a file system behind FUSE lives on.
//
// Threads do the system calls, through buffers of their own that direct I/O accepts; the bytes of a
// write are taken over at start(), those of a read are handed over on the executor's thread. A
// flush is fdatasync(). What waits for a thread, and what has been posted to the clock, is bounded
// by the requests that the driver has outstanding (DiskQueueOptions).

#include <memory>
#include <string>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/clock.h"
#include "plugin/base/result.h"

namespace headcrash::os {

struct RawDiskOptions {
  unsigned threads = 4;   ///< requests in flight at the kernel; the others wait
  bool buffered = false;  ///< through the page cache: for files on file systems without direct I/O
};

class RawDisk final : public BlockDevice {
 public:
  /// Errors name the path: it cannot be opened, is neither a device nor a file, is not a whole
  /// number of sectors, knows no direct I/O in sectors of 512 bytes.
  static Result<std::unique_ptr<RawDisk>> open(const std::string& path, WallClock& clock,
                                               const RawDiskOptions& options = {});
  /// Ends when the threads have done what they were given; what they post later is dropped.
  ~RawDisk() override;
  RawDisk(const RawDisk&) = delete;
  RawDisk& operator=(const RawDisk&) = delete;

  std::uint64_t sectors() const override;
  /// What the kernel says of a device (queue/write_cache); true where it says nothing.
  bool volatile_cache() const override;
  void start(const BlockRequest& request, BlockDone& done) override;
  /// Gives the device back before this goes. Nothing may be on its way, nor be started afterwards.
  void close();

 private:
  struct State;
  void end_threads();
  explicit RawDisk(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace headcrash::os
