#pragma once
// A system on a disk that is only bytes, in virtual time: what tests and the crash lab mount a file system
// on. Who wants a drive's mechanism gives a system a ModelDisk.

#include "fs-adapters/os/faulty_disk.h"
#include "fs-adapters/os/memory_disk.h"
#include "fs-adapters/os/system.h"

namespace headcrash::os {

struct MemoryMachineOptions {
  TimeNs latency_ns = model::kMillisecondNs;  ///< of every request
  SystemOptions system = {};
  std::vector<DiskFault> faults = {};  ///< requests of the disk that fail
};

class MemoryMachine {
 public:
  /// The store must outlive it.
  MemoryMachine(model::SectorStore& store, const MemoryMachineOptions& options)
      : disk(simulation, store, options.latency_ns),
        faulty_disk(disk, options.faults),
        system(clock, faulty_disk, options.system) {}
  MemoryMachine(const MemoryMachine&) = delete;
  MemoryMachine& operator=(const MemoryMachine&) = delete;

  model::Simulation simulation;
  VirtualClock clock{simulation};
  MemoryDisk disk;
  FaultyDisk faulty_disk;
  System system;
};

}  // namespace headcrash::os
