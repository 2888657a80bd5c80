#pragma once
// The processor of the modelled machine: one server, shared in slices, that knows for whom it worked.
//
// A fiber that computes asks for the processor and holds it until it waits for something else, or for at most
// a slice while others wait; who has just been woken by the disk comes before those that have used up a
// slice, as in every UNIX scheduler. What an interrupt does delays whoever computes. Under a real clock the
// table is all zeroes and nothing here waits: the real processor takes its own time.
//
// Each charge is paid at once, in order: while nobody else can run, that is a look at the next event.

#include <cstdint>

#include "fs-adapters/os/executor.h"

namespace headcrash::os {

/// What a machine and its kernel below file systems cost, nanoseconds each. All zero: nothing does.
struct MachineCosts {
  TimeNs system_call = 0;       ///< entry, exit, argument checks
  TimeNs copy_per_kib = 0;      ///< block to block (-CB)
  TimeNs transfer_per_kib = 0;  ///< between a process and the cache: copy, and the pages' mapping and faults
  TimeNs clear_per_kib = 0;     ///< zeroes
  TimeNs buffer_found = 0;      ///< a block asked of the cache
  TimeNs request_issued = 0;    ///< through the driver
  TimeNs interrupt = 0;         ///< a request's completion
  TimeNs process_created = 0;   ///< fork and exec: for workloads of commands
};

/// What the steps of a file system cost on that machine: a table for each kind of file system that is
/// compared, over the same MachineCosts.
struct FileSystemCosts {
  TimeNs path_component = 0;   ///< of a lookup, without looking through the directory
  TimeNs directory_entry = 0;  ///< looked at while a name is searched linearly
  TimeNs inode_changed = 0;    ///< in-core inode copied to its block
  TimeNs allocation = 0;       ///< of a block or an inode: search of a bitmap
  TimeNs dependency = 0;       ///< a structure of soft updates made, satisfied or undone
};

/// Both, as a processor charges them.
struct CpuCosts : MachineCosts, FileSystemCosts {};

class Cpu : private Executor::StopListener {
 public:
  Cpu(Executor& executor, const CpuCosts& costs, TimeNs slice_ns = 10 * model::kMillisecondNs);
  ~Cpu() override;
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  const CpuCosts& costs() const { return costs_; }

  /// The calling fiber computes for so long, for its own account. Once halted it does so in no time.
  void use(TimeNs work_ns);
  /// From an event's handler: whoever computes, now or next, is so much later.
  void interrupt(TimeNs work_ns);
  const Account& interrupts() const { return interrupts_; }
  TimeNs busy_ns() const { return busy_ns_; }  ///< all accounts together

 private:
  void take();
  void give_up();
  void end_slice();
  void wait_in(WaitQueue& queue);
  void stopped(Fiber& fiber) override;

  Executor& executor_;
  CpuCosts costs_;
  TimeNs slice_ns_;
  Account interrupts_{.name = "interrupts"};
  TimeNs busy_ns_ = 0;
  Fiber* holder_ = nullptr;    ///< keeps the processor from one use() to the next, until it stops
  bool promised_ = false;      ///< to one who has been woken and has not run yet
  bool computing_ = false;     ///< the holder sleeps because it computes
  TimeNs slice_left_ns_ = 0;   ///< of the holder
  TimeNs computes_until_ = 0;  ///< the holder's piece of work; interrupts put it off
  TimeNs taken_until_ = 0;     ///< by interrupts that came while nobody computed
  WaitQueue woken_;            ///< have not had their slice
  WaitQueue sliced_;           ///< have used one up
};

}  // namespace headcrash::os
