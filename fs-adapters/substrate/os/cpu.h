#pragma once
// The processor of the modelled machine: one server, shared in slices, that knows for whom it
// worked.
//
// A fiber that computes asks for the processor and holds it until it waits for something else, or
// for at most a slice while others wait; who has just been woken by the disk comes before those
// that have used up a slice, as in every UNIX scheduler. What an interrupt does delays whoever
// computes. Under a real clock the table is all zeroes and nothing here waits: the real processor
// takes its own time.
//
// Each charge is paid at once, in order: while nobody else can run, that is a look at the next
// event.

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

  /// The calling fiber computes for so long, for its own account. Once halted it does so in no
  /// time.
  void use(TimeNs work_ns);
  /// Likewise, for as long as these cost together, and counts them in its account.
  void charge(std::initializer_list<Charge> charges);
  void charge(Cost cost, std::int64_t amount = 1) { charge({{cost, amount}}); }
  /// From an event's handler: whoever computes, now or next, is later by what this costs.
  void interrupt(Cost cost);
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
