#pragma once
// A disk that is only bytes and the small operating system on it, in virtual time: what tests and the crash
// lab mount a file system on. Who wants a drive's mechanism puts the same parts together around a ModelDisk.
//
//   executor (its clock: the simulation's) | cpu | queue -> [faults] -> disk -> store | cache
//   syncer, not yet started
//
// Before it goes, nobody must be at work: power_cut(), then Executor::halt().

#include "fs-adapters/os/buffer_cache.h"
#include "fs-adapters/os/cpu.h"
#include "fs-adapters/os/disk_queue.h"
#include "fs-adapters/os/executor.h"
#include "fs-adapters/os/faulty_disk.h"
#include "fs-adapters/os/memory_disk.h"
#include "fs-adapters/os/syncer.h"

namespace headcrash::os {

struct MemoryMachineOptions {
  TimeNs latency_ns = model::kMillisecondNs;
  CpuCosts costs;
  DiskQueueOptions queue;
  BufferCacheOptions cache;
  SyncerOptions syncer;
  std::vector<DiskFault> faults = {};  ///< requests of the disk that fail
};

class MemoryMachine {
 public:
  /// The store must outlive it.
  MemoryMachine(model::SectorStore& store, const MemoryMachineOptions& options)
      : disk(simulation, store, options.latency_ns),
        faulty_disk(disk, options.faults),
        cpu(executor, options.costs),
        queue(executor, cpu, faulty_disk, options.queue),
        cache(executor, cpu, queue, options.cache),
        syncer(executor, cache, options.syncer) {}
  MemoryMachine(const MemoryMachine&) = delete;
  MemoryMachine& operator=(const MemoryMachine&) = delete;

  model::Simulation simulation;
  VirtualClock clock{simulation};
  Executor executor{clock};
  MemoryDisk disk;
  FaultyDisk faulty_disk;
  Cpu cpu;
  DiskQueue queue;
  BufferCache cache;
  Syncer syncer;
};

}  // namespace headcrash::os
