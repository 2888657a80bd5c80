#pragma once
// A system on a disk of plain bytes, in virtual time. Tests and crash exploration mount file
// systems on it. To emulate a drive with mechanics, give a System a ModelDisk instead.

#include <memory>
#include <vector>

#include "fs-adapters/substrate/os/block_device.h"
#include "fs-adapters/substrate/os/device_address.h"
#include "fs-adapters/substrate/os/faulty_disk.h"
#include "fs-adapters/substrate/os/memory_disk.h"
#include "fs-adapters/substrate/os/system.h"

namespace headcrash::os {

/// One of several devices that share an in-memory disk. The driver sees it as a separate device.
/// Its sectors are stored on the shared disk at the addresses of this device (device_address.h). A
/// flush covers only this device.
class DiskWindow final : public BlockDevice {
 public:
  /// `disk` must outlive this object.
  DiskWindow(BlockDevice& disk, std::size_t device, std::uint64_t sectors)
      : disk_(disk), base_(device_address(device, 0)), sectors_(sectors) {}

  std::uint64_t sectors() const override { return sectors_; }
  bool volatile_cache() const override { return disk_.volatile_cache(); }
  void start(const BlockRequest& request, BlockDone& done) override {
    BlockRequest its = request;
    its.lba += base_;
    disk_.start(its, done);
  }

 private:
  BlockDevice& disk_;
  std::uint64_t base_, sectors_;
};

struct MemoryMachineOptions {
  TimeNs latency_ns = model::kMillisecondNs;  ///< latency of every request
  SystemOptions system = {};
  std::vector<DiskFault> faults = {};  ///< injected faults, at driver addresses
  /// Size of the second device; 0 if there is only one device. The second device's sectors are in
  /// the same store, at the addresses that device_stores.h defines.
  std::uint64_t second_sectors = 0;
};

class MemoryMachine {
 public:
  /// The store must outlive the machine.
  MemoryMachine(model::SectorStore& store, const MemoryMachineOptions& options)
      : disk(simulation, store, options.latency_ns),
        faulty_disk(disk, options.faults),
        second(options.second_sectors == 0
                   ? nullptr
                   : std::make_unique<DiskWindow>(faulty_disk, 1, options.second_sectors)),
        system(clock, devices(), options.system) {}
  MemoryMachine(const MemoryMachine&) = delete;
  MemoryMachine& operator=(const MemoryMachine&) = delete;

  model::Simulation simulation;
  VirtualClock clock{simulation};
  MemoryDisk disk;
  FaultyDisk faulty_disk;
  std::unique_ptr<DiskWindow> second;  ///< null if there is no second device
  System system;

 private:
  std::vector<BlockDevice*> devices() {
    std::vector<BlockDevice*> all{&faulty_disk};
    if (second) all.push_back(second.get());
    return all;
  }
};

}  // namespace headcrash::os
