#pragma once
// What a file system of our own runs on: the small operating system between a block device and a
// Vfs.
//
//   users and daemons    fibers of one executor, on one processor with a table of costs
//   file system          vfs.h above, Hooks of the cache below
//   cache                what is dirty is written by whoever waits for it, or behind by the syncer
//   queue                the driver's: order, schedule, one request at a device at a time, or several
//   device               emulated in virtual time, a drive's model, or a real one
//
// It is one type for all who mount a file system: tests and the crash lab (memory_machine.h), the
// papers' experiments (harness/papers/modelled_machine.h), and FUSE
// (fs-adapters/fuse/real_machine.h) differ in the clock and the device that they give it.
//
// Threads: one, the executor's; everything here is called from its fibers unless it says otherwise.
// Before it goes nobody may be at work: either all fibers have ended, or the device's power is cut
// and Executor::halt() has been called.

#include <functional>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/buffer_cache.h"
#include "fs-adapters/substrate/os/cpu.h"
#include "fs-adapters/substrate/os/disk_queue.h"
#include "fs-adapters/substrate/os/executor.h"
#include "fs-adapters/substrate/os/syncer.h"

namespace headcrash::os {

struct SystemOptions {
  CpuCosts costs = {};
  DiskQueueOptions queue = {};
  BufferCacheOptions cache = {};
  SyncerOptions syncer = {};
};

class System {
 public:
  /// Clock and device must outlive it. The syncer is not started.
  System(Clock& clock, BlockDevice& device, const SystemOptions& options)
      : System(clock, std::vector{&device}, options) {}
  /// A file system over several devices, the first its own and a log's next, say. Driver and cache
  /// are one: homes are device_address(device, sector), and order holds over all of them
  /// (disk_queue.h).
  System(Clock& clock, const std::vector<BlockDevice*>& devices, const SystemOptions& options)
      : executor(clock),
        cpu(executor, options.costs),
        queue(executor, cpu, devices, options.queue),
        cache(executor, cpu, queue, options.cache),
        syncer(executor, cache, options.syncer) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// Runs the body as a process of the account, until it and every other user has ended. Called
  /// outside of any fiber.
  void run_as(Account& account, std::function<void()> body) {
    executor.spawn(Executor::Kind::user, account, std::move(body));
    executor.run();
  }

  Executor executor;
  Cpu cpu;
  DiskQueue queue;
  BufferCache cache;
  Syncer syncer;
};

}  // namespace headcrash::os
