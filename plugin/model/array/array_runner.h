#pragma once
// Runs the coroutines of an array (array_task.h) on model time: what they wait for, and when they
// continue.
//
//   coroutine --co_await--> Sleep, Work   an event            --> ready --> run()
//                           Waiters       wake_all()          -->
//                           Join          the last arrive()   -->
//
// run() lets all that are ready run until each waits again, then hands over one completion to the
// host, and so on until there is neither: the host may submit more, or cut the power, only when
// every coroutine has stopped at a wait. Nothing runs inside submit(), or inside what an operator
// asks for: drain_later() does it by an event.

#include <cstdint>
#include <vector>

#include "plugin/model/array/array_task.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::model {

/// Completions that wait until no coroutine is running.
class FinishedRequests {
 public:
  virtual bool any_finished() const = 0;
  virtual void deliver_finished() = 0;  ///< the oldest

 protected:
  ~FinishedRequests() = default;
};

class ArrayRunner final : public CoroutineScope, private EventTarget {
 public:
  /// Both must outlive it.
  ArrayRunner(Simulation& simulation, FinishedRequests& finished)
      : simulation_(simulation), finished_(finished) {}

  using Waiters = std::vector<std::coroutine_handle<>>;
  struct Sleep {
    ArrayRunner& runner;
    TimeNs at;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { runner.wake_at(at, waiter); }
    void await_resume() const {}
  };
  /// Until somebody calls wake_all() with the list.
  struct Wait {
    Waiters& list;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { list.push_back(waiter); }
    void await_resume() const {}
  };
  /// Several coroutines that somebody waits for.
  struct Join {
    ArrayRunner& runner;
    std::uint32_t running = 0;
    Status status = Status::ok;
    Breakdown breakdown;  ///< of the last one
    std::coroutine_handle<> waiter;

    void arrive(Status s, const Breakdown& b);
    bool await_ready() const { return running == 0; }
    void await_suspend(std::coroutine_handle<> h) { waiter = h; }
    void await_resume() const {}
  };

  Sleep until(TimeNs at) { return Sleep{*this, at}; }
  /// Until an event of this instant: for what must not end inside its call.
  Sleep until_event() { return until(simulation_.now()); }
  /// Of the controller, which does one thing after the other.
  Sleep work(TimeNs ns);
  void wake_all(Waiters& list);
  using CoroutineScope::cancel_all;
  using CoroutineScope::make_ready;

  void run();
  void drain_later();
  /// Destroys all coroutines, wherever they stand, and forgets the controller's work.
  void power_cut();

 private:
  enum class Tag : std::uint64_t { drain, wake };
  struct Sleeper {
    std::coroutine_handle<> waiter;
    std::uint32_t turn = 0;  ///< an event of an earlier one is void
  };

  void on_event(std::uint64_t tag) override;
  void schedule(TimeNs at, Tag tag, std::uint64_t value = 0);
  void wake_at(TimeNs at, std::coroutine_handle<> waiter);

  Simulation& simulation_;
  FinishedRequests& finished_;
  std::vector<Sleeper> sleepers_;
  std::vector<std::uint32_t> free_sleepers_;
  bool running_ = false, drain_scheduled_ = false;
  TimeNs free_at_ = 0;  ///< the controller
};

}  // namespace headcrash::model
