#pragma once
// A machine that runs in real time on one or two real block devices, for FUSE file systems in a
// guest.

#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/raw_disk.h"
#include "fs-adapters/substrate/os/system.h"
#include "plugin/base/result.h"

namespace headcrash::fuse {

enum class Flushes : std::uint8_t {
  where_needed,  ///< flush if the device has a volatile cache
  always,
  never,  ///< never flush: a completed write counts as durable
};

struct MachineOptions {
  os::SystemOptions system;  ///< `queue.flush_for_order` is set according to `flushes`
  Flushes flushes = Flushes::where_needed;
  /// If true, the file system itself flushes the device's cache. With `where_needed`, the driver
  /// then adds no flushes.
  bool flushes_itself = false;
  bool buffered = false;  ///< sets os::RawDiskOptions::buffered
  std::string log;        ///< device of an external log; empty if there is no log
};

/// Owns the clock, the devices and the system. The order of the members matters: the clock must
/// outlive the devices, and the devices must outlive the queue.
class RealMachine {
 public:
  static Result<std::unique_ptr<RealMachine>> open(const std::string& device,
                                                   const MachineOptions& options);
  ~RealMachine();
  RealMachine(const RealMachine&) = delete;
  RealMachine& operator=(const RealMachine&) = delete;

  /// Waits until the devices have made all completed writes durable, then closes them. No request
  /// may be issued afterwards. Must be called from a fiber.
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
