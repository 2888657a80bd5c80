#pragma once
// The modelled machine's processor: a single server that is shared in time slices, with accounting.
//
// A fiber that computes acquires the processor. It holds the processor until it waits for something
// else or, if other fibers are waiting for the processor, until its slice has ended. Fibers just
// woken by the disk precede those that have used up a slice, as in UNIX schedulers. Interrupt
// handling delays the running fiber. Under a real clock, all costs are zero and no function here
// waits.
//
// Each charge is paid immediately and in order. While no other fiber can run, paying a charge only
// requires a check for the next event. At each charge, even one that costs nothing, a schedule may
// switch to another fiber (fiber_schedule.h).

#include <cstdint>
#include <initializer_list>

#include "fs-adapters/substrate/os/cpu_costs.h"
#include "fs-adapters/substrate/os/executor.h"

namespace headcrash::os {

class Cpu : private Executor::StopListener {
 public:
  Cpu(Executor& executor, const CpuCosts& costs, TimeNs slice_ns = 10 * model::kMillisecondNs);
  ~Cpu() override;
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  const CpuCosts& costs() const { return costs_; }

  /// Uses the processor for `work_ns`, which is charged to the calling fiber's account. Returns at
  /// once after halt().
  void use(TimeNs work_ns);
  /// Uses the processor for the total cost of `charges`, as use() does. Counts each charge in the
  /// account.
  void charge(std::initializer_list<Charge> charges);
  void charge(Cost cost, std::int64_t amount = 1) { charge({{cost, amount}}); }
  /// Used by event handlers. Delays the running fiber by this cost. If the processor is idle,
  /// delays the next fiber that uses it.
  void interrupt(Cost cost);
  const Account& interrupts() const { return interrupts_; }
  TimeNs busy_ns() const { return busy_ns_; }  ///< sum over all accounts

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
  /// The fiber that has the processor. A fiber keeps the processor between two calls of use(),
  /// unless it stops for another reason in between.
  Fiber* holder_ = nullptr;
  /// True if the processor is granted to a woken fiber that has not run yet.
  bool promised_ = false;
  bool computing_ = false;     ///< true while the holder sleeps for the duration of its computation
  TimeNs slice_left_ns_ = 0;   ///< remaining part of the holder's slice
  TimeNs computes_until_ = 0;  ///< end of the holder's current work; interrupts extend it
  /// End of the interrupt handling that began while no fiber was computing.
  TimeNs taken_until_ = 0;
  WaitQueue woken_;   ///< waiting fibers that have part of a slice left
  WaitQueue sliced_;  ///< waiting fibers that have used up their slice
};

}  // namespace headcrash::os
