#pragma once
// The small operating system on which our file systems run, between a block device and a Vfs.
//
//   users and daemons    fibers of one executor, on one processor with a table of costs
//   file system          vfs.h above, hooks of the cache below
//   cache                its dirty blocks are written by callers that wait, or by the syncer
//   queue                the driver's: order, schedule, a limit on requests at each device
//   device               in memory with virtual time, a drive's model, or a real one
//
// All environments share this type. Tests and crash exploration (memory_machine.h), the papers'
// experiments (harness/papers/modelled_machine.h) and FUSE (fs-adapters/fuse/real_machine.h) differ
// only in clock and device.
//
// Threads: only the executor's. Everything here is called from its fibers unless noted otherwise.
// Before destruction, all fibers must have ended, or the device's power must be cut and
// Executor::halt() called.

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
  ExecutorOptions executor = {};
};

class System {
 public:
  /// Clock and device must outlive the system. The constructor does not start the syncer.
  System(Clock& clock, BlockDevice& device, const SystemOptions& options)
      : System(clock, std::vector{&device}, options) {}
  /// Creates a system for a file system on several devices, for example one device for its blocks
  /// and one for its log. All devices share the driver and the cache: a buffer's home is
  /// device_address(device, sector), and ordering covers all devices (disk_queue.h).
  System(Clock& clock, const std::vector<BlockDevice*>& devices, const SystemOptions& options)
      : executor(clock, options.executor),
        cpu(executor, options.costs),
        queue(executor, cpu, devices, options.queue),
        cache(executor, cpu, queue, options.cache),
        syncer(executor, cache, options.syncer) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  /// Runs `body` as a process that is charged to `account`. Returns once this process and all other
  /// users have ended. Must not be called from a fiber.
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
