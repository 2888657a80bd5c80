// The processor (cpu.h).
#include "fs-adapters/substrate/os/cpu.h"

#include <algorithm>

namespace headcrash::os {

Cpu::Cpu(Executor& executor, const CpuCosts& costs, TimeNs slice_ns)
    : executor_(executor), costs_(costs), slice_ns_(slice_ns), woken_(executor), sliced_(executor) {
  executor_.on_stop(this);
}

Cpu::~Cpu() {
  executor_.on_stop(nullptr);
}

/// Passes the processor to a fiber that waits for it. The processor is then reserved for that
/// fiber, even if other fibers request it before that fiber runs.
void Cpu::give_up() {
  holder_ = nullptr;
  WaitQueue& next = woken_.empty() ? sliced_ : woken_;
  promised_ = !next.empty();
  next.wake_one();
}

void Cpu::wait_in(WaitQueue& queue) {
  queue.wait();
  promised_ = false;
}

void Cpu::stopped(Fiber& fiber) {
  if (&fiber == holder_ && !computing_) give_up();
}

void Cpu::take() {
  Fiber* self = executor_.current();
  if (holder_ == self) return;
  if (holder_ != nullptr || promised_) wait_in(woken_);
  holder_ = self;
  slice_left_ns_ = slice_ns_;
}

void Cpu::use(TimeNs work_ns) {
  if (work_ns <= 0) return;
  executor_.account().cpu_ns += work_ns;
  busy_ns_ += work_ns;
  if (executor_.halted()) return;
  take();
  while (work_ns > 0 && !executor_.halted()) {
    if (slice_left_ns_ == 0) end_slice();
    const TimeNs piece = std::min(work_ns, slice_left_ns_);
    computes_until_ = std::max(executor_.now(), taken_until_) + piece;
    computing_ = true;
    while (executor_.now() < computes_until_ && !executor_.halted())
      executor_.sleep_until(computes_until_);
    computing_ = false;
    work_ns -= piece;
    slice_left_ns_ -= piece;
  }
}

void Cpu::charge(std::initializer_list<Charge> charges) {
  const bool counted =
      executor_.current() != nullptr;  // outside of fibers, only operations without cost may occur
  executor_.possible_switch();
  TimeNs work_ns = 0;
  for (const Charge& each : charges) {
    if (counted) executor_.account().charged[static_cast<std::size_t>(each.cost)] += each.amount;
    work_ns += price_of(costs_, each);
  }
  use(work_ns);
}

void Cpu::end_slice() {
  if (!woken_.empty() || !sliced_.empty()) {
    give_up();
    wait_in(sliced_);
    holder_ = executor_.current();
  }
  slice_left_ns_ = slice_ns_;
}

void Cpu::interrupt(Cost cost) {
  ++interrupts_.charged[static_cast<std::size_t>(cost)];
  const TimeNs work_ns = price_of(costs_, {cost});
  if (work_ns <= 0) return;
  interrupts_.cpu_ns += work_ns;
  busy_ns_ += work_ns;
  if (computing_)
    computes_until_ += work_ns;
  else
    taken_until_ = std::max(executor_.now(), taken_until_) + work_ns;
}

}  // namespace headcrash::os
