// A device and all that stands between it and a file system (real_machine.h).
#include "fs-adapters/fuse/real_machine.h"

#include <utility>

namespace headcrash::fuse {
namespace {

os::SystemOptions system_options(const MachineOptions& options, const os::BlockDevice& disk) {
  os::SystemOptions system = options.system;
  const bool needed = disk.volatile_cache() && !options.flushes_itself;
  system.queue.flush_for_order =
      options.flushes == Flushes::always || (options.flushes == Flushes::where_needed && needed);
  return system;
}

}  // namespace

Result<std::unique_ptr<RealMachine>> RealMachine::open(const std::string& device,
                                                       const MachineOptions& options) {
  auto clock = std::make_unique<os::WallClock>(os::WallClock::Origin::epoch);
  // One request is at the disk at a time: one thread is enough.
  auto disk = os::RawDisk::open(device, *clock, {.threads = 1, .buffered = options.buffered});
  if (!disk) return pass_on(disk);
  return std::unique_ptr<RealMachine>(new RealMachine(std::move(clock), std::move(*disk), options));
}

RealMachine::RealMachine(std::unique_ptr<os::WallClock> clock, std::unique_ptr<os::RawDisk> disk,
                         const MachineOptions& options)
    : clock_(std::move(clock)),
      disk_(std::move(disk)),
      system(*clock_, *disk_, system_options(options, *disk_)) {
  system.syncer.start();
}

RealMachine::~RealMachine() = default;

model::Status RealMachine::flush_and_close() {
  system.queue.drain();
  auto status = model::Status::ok;
  if (disk_->volatile_cache())
    status = system.queue.transfer({.op = model::Op::flush, .lba = 0, .sectors = 0});
  disk_->close();
  return status;
}

}  // namespace headcrash::fuse
