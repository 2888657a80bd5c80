#pragma once
// Fibers: the processes and daemons of a small operating system, on one thread.
//
// A fiber runs until it waits; then the next runnable one does, first come first served. While
// fibers are runnable no time passes; when none is, the clock continues to the next timer or to
// what happens outside (clock.h). Equal inputs therefore give equal runs, and nothing here needs a
// lock of the host's.
//
//   spawn -> runnable -> running -> [waits in a WaitQueue | sleeps] -> runnable -> ... -> ended
//
// A machine whose users all wait for each other has a bug: when nothing can happen any more, or
// when only daemons have run for three days, the program stops and says who waits.
//
// A power cut does not tear fibers down: every request fails, sleepers and waiters for a timer are
// woken by halt(), and all of them unwind by their ordinary error paths. A fiber whose stack were
// thrown away would never run its destructors.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fs-adapters/substrate/os/clock.h"
#include "fs-adapters/substrate/os/cpu_costs.h"

namespace headcrash::os {

/// Who pays for CPU time: a user's process, the syncer, the interrupt handlers.
struct Account {
  std::string name;
  TimeNs cpu_ns = 0;  ///< computed
  TimeNs disk_wait_ns =
      0;                 ///< waited for a request of its own, or for a buffer that was on its way
  Charged charged = {};  ///< what of `cpu_ns` was for the costs of the table
};

class Fiber;  ///< opaque: executor.cc

struct ExecutorOptions {
  std::size_t stack_bytes = 256 << 10;  ///< of each fiber; a page that faults lies below
  std::size_t fibers_max = 1 << 16;     ///< at a time: spawn() of one more stops the program
};

class Executor {
 public:
  explicit Executor(Clock& clock, const ExecutorOptions& options = {});
  ~Executor();  ///< every fiber must have ended: halt() first
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// A user is waited for by run(), a daemon is not.
  enum class Kind : std::uint8_t { user, daemon };
  void spawn(Kind kind, Account& account, std::function<void()> body);

  /// Runs until every user has ended. Stops with an invariant's message when all wait and nothing
  /// can happen.
  void run();
  /// Runs until `until`, whoever ends or not: daemons at work, a machine left alone.
  void run_until(TimeNs until);
  /// Runs until `done`, for as long as it takes: a machine whose users come from outside (a
  /// WallClock's posted events) and may stay away for days. It is asked between the fibers' turns,
  /// and after each posted event.
  void run_until(const std::function<bool()>& done);
  /// From now on sleeps end at once. Runs until every fiber, daemons too, has ended.
  void halt();
  bool halted() const;

  TimeNs now() const;

  // From within a fiber.
  Account& account();
  void yield();                 ///< behind all that are runnable now
  void sleep_until(TimeNs at);  ///< at once once halted

  /// Which fiber runs; null in an event's handler and outside of run().
  Fiber* current() const;
  /// Hears of every fiber that stops running because it waits, sleeps, yields or ends; one
  /// listener, null for none. It may wake others, not wait. The processor is given up in this way
  /// (cpu.h).
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
  std::unique_ptr<State> state_;
};

/// Fibers that wait for the same thing, in the order they came. A waker may be anybody on the
/// thread, also an event's handler. Waking makes runnable, it does not run. Nobody is woken by
/// halt(): who waits here waits for another fiber or for a request, and both come to their ends.
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
  Fiber* first_ = nullptr;  ///< each fiber knows the next one
  Fiber* last_ = nullptr;
};

/// A mutual exclusion lock for fibers. unlock() passes it to the fiber that has waited longest. A
/// fiber must not lock it twice.
class FiberLock {
 public:
  explicit FiberLock(Executor& executor) : waiters_(executor) {}
  void lock();
  void unlock();
  bool locked() const { return locked_; }
  /// Returns true if lock() would never return: the holder waits, directly or through other
  /// holders, for a FiberLock of the running fiber. Call from within a fiber.
  bool would_deadlock() const;

 private:
  WaitQueue waiters_;
  bool locked_ = false;
  Fiber* holder_ = nullptr;  ///< null if free, or if locked outside of a fiber
};

}  // namespace headcrash::os
