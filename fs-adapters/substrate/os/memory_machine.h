#pragma once
// A system on a disk that is only bytes, in virtual time: what tests and the crash lab mount a file
// system on. Who wants a drive's mechanism gives a system a ModelDisk.

#include <memory>
#include <vector>

#include "fs-adapters/substrate/os/disk_window.h"
#include "fs-adapters/substrate/os/faulty_disk.h"
#include "fs-adapters/substrate/os/memory_disk.h"
#include "fs-adapters/substrate/os/system.h"

namespace headcrash::os {

struct MemoryMachineOptions {
  TimeNs latency_ns = model::kMillisecondNs;  ///< of every request
  SystemOptions system = {};
  std::vector<DiskFault> faults = {};  ///< requests of the disk that fail, at a driver's addresses
  /// Of a second device, which the store has at a driver's addresses (device_stores.h); 0: there is
  /// none.
  std::uint64_t second_sectors = 0;
};

class MemoryMachine {
 public:
  /// The store must outlive it.
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
  std::unique_ptr<DiskWindow> second;  ///< null: there is none
  System system;

 private:
  std::vector<BlockDevice*> devices() {
    std::vector<BlockDevice*> all{&faulty_disk};
    if (second) all.push_back(second.get());
    return all;
  }
};

}  // namespace headcrash::os
