#pragma once
// A system on a real device, or on two of them, in real time: what a file system of our own runs on
// in a guest.

#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/raw_disk.h"
#include "fs-adapters/substrate/os/system.h"
#include "plugin/base/result.h"

namespace headcrash::fuse {

enum class Flushes : std::uint8_t {
  where_needed,  ///< when the device has a volatile cache
  always,
  never,  ///< completion is believed to be durable
};

struct MachineOptions {
  os::SystemOptions system;  ///< the queue's flush_for_order is decided by `flushes`
  Flushes flushes = Flushes::where_needed;
  bool flushes_itself = false;  ///< the file system does, and `where_needed` needs nothing here
  bool buffered = false;        ///< os::RawDiskOptions
  std::string log;              ///< the device that the log is on; empty: there is none of its own
};

/// The clock outlives everything, the device its queue: members in this order.
class RealMachine {
 public:
  static Result<std::unique_ptr<RealMachine>> open(const std::string& device,
                                                   const MachineOptions& options);
  ~RealMachine();
  RealMachine(const RealMachine&) = delete;
  RealMachine& operator=(const RealMachine&) = delete;

  /// The calling fiber waits until the devices say that all they have taken is durable, and the
  /// devices are given
  /// back: nothing may be asked of them any more.
  model::Status flush_and_close();

 private:
  std::unique_ptr<os::WallClock> clock_;
  std::vector<std::unique_ptr<os::RawDisk>> disks_;

 public:
  os::System system;

  os::WallClock& clock() { return *clock_; }

 private:
  RealMachine(std::unique_ptr<os::WallClock> clock, std::vector<std::unique_ptr<os::RawDisk>> disks,
              const MachineOptions& options);
};

}  // namespace headcrash::fuse
