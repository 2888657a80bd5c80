#pragma once
// Fibers: the processes and daemons of a small operating system, on one thread.
//
// A fiber runs until it waits; then the next runnable fiber runs, in FIFO order unless the machine
// has a schedule (fiber_schedule.h). No time passes while fibers are runnable. Otherwise the clock
// advances to the next timer or external event (clock.h). Equal inputs therefore give equal runs,
// and nothing here needs a host lock.
//
//   spawn -> runnable -> running -> [waits in a WaitQueue | sleeps] -> runnable -> ... -> ended
//
// A deadlock is a bug. If no event is pending, or if only daemons have run for three days,
// the program stops and lists the waiting fibers.
//
// A power cut does not destroy fibers. Every request fails, halt() wakes sleeping fibers, and all
// of them unwind by their ordinary error paths. If a fiber's stack were simply discarded, its
// destructors would never run.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fs-adapters/substrate/os/clock.h"
#include "fs-adapters/substrate/os/cpu_costs.h"
#include "fs-adapters/substrate/os/fiber_schedule.h"

namespace headcrash::os {

/// An account for CPU time. A user's process, the syncer, and the interrupt handlers are charged to
/// separate accounts.
struct Account {
  std::string name;
  TimeNs cpu_ns = 0;  ///< time that the account's fibers spent computing
  /// Time that the account's fibers spent waiting for their own requests, or for a buffer that was
  /// in flight.
  TimeNs disk_wait_ns = 0;
  Charged charged = {};  ///< how often each cost was charged; all charges together make up `cpu_ns`
};

class Fiber;  ///< opaque; see executor.cc

struct ExecutorOptions {
  /// Stack size of each fiber; there is a guard page below the stack.
  std::size_t stack_bytes = 256 << 10;
  std::size_t fibers_max = 1 << 16;  ///< limit on live fibers; exceeding it stops the program
  FiberScheduleOptions schedule = {};
  /// Overrides `schedule` if not null. Must outlive the executor.
  FiberSchedule* own_schedule = nullptr;
};

class Executor {
 public:
  explicit Executor(Clock& clock, const ExecutorOptions& options = {});
  ~Executor();  ///< all fibers must have ended before; call halt() first
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// run() waits until all users have ended. It does not wait for daemons.
  enum class Kind : std::uint8_t { user, daemon };
  void spawn(Kind kind, Account& account, std::function<void()> body);

  /// Runs until every user has ended. Stops the program with an error message if all fibers are
  /// waiting and no event can occur.
  void run();
  /// Runs until the clock reaches `until`, even if all users have ended. Used when the machine is
  /// idle or has only daemons.
  void run_until(TimeNs until);
  /// Runs until `done` returns true, without a time limit. Used if work comes from outside the
  /// machine, as events posted to a WallClock; days may pass without an event. Calls `done` between
  /// turns of fibers and after each posted event.
  void run_until(const std::function<bool()>& done);
  /// Makes all sleeps end immediately from now on, and runs until every fiber has ended, daemons
  /// included.
  void halt();
  bool halted() const;

  TimeNs now() const;

  // The following functions must be called from a fiber.
  Account& account();
  void yield();                 ///< lets all runnable fibers run first
  void sleep_until(TimeNs at);  ///< returns at once after halt()
  /// At this point, a schedule may run another fiber. Does nothing without a schedule, outside of
  /// fibers, and after halt().
  void possible_switch() {
    if (schedule_ != nullptr) switch_if_scheduled();
  }

  /// Returns the running fiber, or null in an event handler and outside of run().
  Fiber* current() const;
  /// Sets a listener that is called whenever a fiber stops running because it waits, sleeps, yields
  /// or ends. Null removes the listener. The listener may wake fibers but must not wait. A
  /// processor (cpu.h) uses a listener to detect that the fiber that held the processor has
  /// stopped. Another fiber can then take the processor.
  class StopListener {
   public:
    virtual ~StopListener() = default;
    virtual void stopped(Fiber& fiber) = 0;
  };
  void on_stop(StopListener* listener);

 private:
  friend class Fiber;
  friend class WaitQueue;
  struct State;
  void switch_if_scheduled();

  std::unique_ptr<State> state_;
  FiberSchedule* schedule_ = nullptr;  ///< null for FIFO order
};

/// A queue of fibers that wait for the same event. Any code on the executor's thread may wake them,
/// including event handlers. Fibers are woken in FIFO order, or in the order of their priorities if
/// there is a schedule. Waking a fiber makes it runnable but does not run it. halt() does not wake
/// the waiting fibers. They are woken as usual, when the fibers and requests for which they wait
/// end.
class WaitQueue {
 public:
  explicit WaitQueue(Executor& executor) : executor_(executor) {}
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  void wait();
  void wake_one();
  void wake_all();
  bool empty() const { return first_ == nullptr; }

 private:
  friend class FiberLock;
  Executor& executor_;
  Fiber* first_ = nullptr;  ///< fibers are linked through a member of Fiber
  Fiber* last_ = nullptr;
};

/// A mutex for fibers. Waiting fibers get the mutex in the order of a WaitQueue. Not recursive.
class FiberLock {
 public:
  explicit FiberLock(Executor& executor) : waiters_(executor) {}
  /// Takes the lock; waits if another fiber holds it. This call is a possible switch even if the
  /// lock is free.
  void lock();
  /// If the lock is free, takes it and returns true; otherwise, returns false. Never waits, and
  /// never switches to another fiber.
  bool try_lock();
  void unlock();
  bool locked() const { return locked_; }
  /// Returns true if lock() would never return, because the holder is waiting, directly or through
  /// other holders, for a FiberLock that the running fiber holds. Must be called from a fiber.
  bool would_deadlock() const;

 private:
  WaitQueue waiters_;
  bool locked_ = false;
  Fiber* holder_ = nullptr;  ///< null if free, or if locked outside of a fiber
};

}  // namespace headcrash::os
