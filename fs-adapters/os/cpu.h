#pragma once
// The processor of the modelled machine: one server, shared in slices, that knows for whom it worked.
//
// A fiber that computes asks for the processor and holds it for at most a slice while others wait; who has
// just been woken by the disk comes before those that have used up a slice, as in every UNIX scheduler. What
// an interrupt does delays whoever computes. Under a real clock the table is all zeroes and nothing here
// waits: the real processor takes its own time.

#include <cstdint>
#include <deque>

#include "fs-adapters/os/executor.h"

namespace headcrash::os {

/// What things cost on a machine, nanoseconds each. All zero: nothing does.
struct CpuCosts {
  TimeNs system_call = 0;      ///< entry, exit, argument checks
  TimeNs path_component = 0;   ///< of a lookup, without looking through the directory
  TimeNs directory_entry = 0;  ///< looked at while a name is searched linearly
  TimeNs buffer_found = 0;     ///< a block asked of the cache
  TimeNs copy_per_kib = 0;     ///< between user and cache, or block to block (-CB)
  TimeNs clear_per_kib = 0;    ///< zeroes
  TimeNs request_issued = 0;   ///< through the driver
  TimeNs interrupt = 0;        ///< a request's completion
  TimeNs inode_changed = 0;    ///< in-core inode copied to its block
  TimeNs allocation = 0;       ///< of a block or an inode: search of a bitmap
  TimeNs dependency = 0;       ///< a structure of soft updates made, satisfied or undone
  TimeNs process_created = 0;  ///< fork and exec: for workloads of commands
};

class Cpu {
 public:
  Cpu(Executor& executor, const CpuCosts& costs, TimeNs slice_ns = 10 * model::kMillisecondNs);

  const CpuCosts& costs() const { return costs_; }

  /// The calling fiber computes for so long, for its own account.
  void use(TimeNs work_ns);
  /// From an event's handler: whoever computes next is so much later.
  void interrupt(TimeNs work_ns);
  const Account& interrupts() const { return interrupts_; }
  TimeNs busy_ns() const;  ///< all accounts together

 private:
  Executor& executor_;
  CpuCosts costs_;
  TimeNs slice_ns_;
  Account interrupts_{.name = "interrupts"};
  TimeNs stolen_ns_ = 0;  ///< by interrupts, not yet paid for by who computes
  TimeNs busy_ns_ = 0;
  FiberLock processor_;
};

}  // namespace headcrash::os
