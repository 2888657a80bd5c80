// Connects a real device to a queue and a cache (real_machine.h).
#include "fs-adapters/fuse/real_machine.h"

#include <algorithm>
#include <utility>

#include "fs-adapters/substrate/os/device_address.h"

namespace headcrash::fuse {
namespace {

using Disks = std::vector<std::unique_ptr<os::RawDisk>>;

os::SystemOptions system_options(const MachineOptions& options, const Disks& disks) {
  os::SystemOptions system = options.system;
  const bool is_volatile =
      std::ranges::any_of(disks, [](const auto& disk) { return disk->volatile_cache(); });
  const bool needed = is_volatile && !options.flushes_itself;
  system.queue.flush_for_order =
      options.flushes == Flushes::always || (options.flushes == Flushes::where_needed && needed);
  return system;
}

std::vector<os::BlockDevice*> devices_of(const Disks& disks) {
  std::vector<os::BlockDevice*> devices;
  devices.reserve(disks.size());
  for (const auto& disk : disks) devices.push_back(disk.get());
  return devices;
}

}  // namespace

Result<std::unique_ptr<RealMachine>> RealMachine::open(const std::string& device,
                                                       const MachineOptions& options) {
  auto clock = std::make_unique<os::WallClock>(os::WallClock::Origin::epoch);
  Disks disks;
  for (const std::string& path : {device, options.log}) {
    if (path.empty()) continue;
    // The driver sends one request at a time to a disk, so one thread suffices.
    TRY(auto disk, os::RawDisk::open(path, *clock, {.threads = 1, .buffered = options.buffered}));
    disks.push_back(std::move(disk));
  }
  return std::unique_ptr<RealMachine>(new RealMachine(std::move(clock), std::move(disks), options));
}

RealMachine::RealMachine(std::unique_ptr<os::WallClock> clock, Disks disks,
                         const MachineOptions& options)
    : clock_(std::move(clock)),
      disks_(std::move(disks)),
      system(*clock_, devices_of(disks_), system_options(options, disks_)) {
  system.syncer.start();
}

RealMachine::~RealMachine() = default;

model::Status RealMachine::flush_and_close() {
  system.queue.drain();
  auto status = model::Status::ok;
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    if (!disks_[i]->volatile_cache()) continue;
    const auto flushed = system.queue.transfer(
        {.op = model::Op::flush, .lba = os::device_address(i, 0), .sectors = 0});
    if (flushed != model::Status::ok) status = flushed;
  }
  for (const auto& disk : disks_) disk->close();
  return status;
}

}  // namespace headcrash::fuse
