#pragma once
// The modelled machine's processor: a single server shared in time slices, with accounting.
//
// A fiber that computes acquires the processor. It holds the processor until it waits for something
// else, or for at most one slice while others wait. Fibers just woken by the disk precede those
// that have used up a slice, as in UNIX schedulers. Interrupt work delays the running fiber. Under
// a real clock all costs are zero and nothing here waits.
//
// Each charge is paid immediately and in order. While no other fiber can run, a charge only checks
// for the next event. A charge is a possible switch (fiber_schedule.h), even if it costs nothing.

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

  /// Computes for `work_ns` on the calling fiber's account. Returns at once after halt().
  void use(TimeNs work_ns);
  /// Like the above, for the total cost of `charges`. Counts each charge in the account.
  void charge(std::initializer_list<Charge> charges);
  void charge(Cost cost, std::int64_t amount = 1) { charge({{cost, amount}}); }
  /// For event handlers: delays the running fiber, or the next one, by this cost.
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
  Fiber* holder_ = nullptr;    ///< keeps the processor across use() calls until it stops
  bool promised_ = false;      ///< granted to a woken fiber that has not run yet
  bool computing_ = false;     ///< the holder sleeps while it computes
  TimeNs slice_left_ns_ = 0;   ///< rest of the holder's slice
  TimeNs computes_until_ = 0;  ///< end of the holder's current work; interrupts extend it
  TimeNs taken_until_ = 0;     ///< end of interrupts that arrived while the processor was idle
  WaitQueue woken_;            ///< fibers that have not had their slice
  WaitQueue sliced_;           ///< fibers that have used up a slice
};

}  // namespace headcrash::os
