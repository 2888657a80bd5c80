#pragma once
// Runs the coroutines of an array (array_task.h) on model time.
//
//   coroutine --co_await--> Sleep, Work   an event            --> ready --> run()
//                           Waiters       wake_all()          -->
//                           Join          the last arrive()   -->
//
// run() resumes ready coroutines until all of them are waiting, and then delivers one completion to
// the host. It repeats this until no coroutine is ready and no completion is left. Callbacks of the
// host, which may submit requests or cut the power, therefore run only while all coroutines are
// waiting. Coroutines never run inside submit() or an operator command; drain_later() schedules an
// event that runs them.

#include <cstdint>
#include <vector>

#include "plugin/model/array/array_task.h"
#include "plugin/model/core/simulation.h"

namespace headcrash::model {

/// Completed requests. Their completions are delivered when no coroutine is running.
class FinishedRequests {
 public:
  virtual bool any_finished() const = 0;
  virtual void deliver_finished() = 0;  ///< delivers the oldest completion

 protected:
  ~FinishedRequests() = default;
};

class ArrayRunner final : public CoroutineScope, private EventTarget {
 public:
  /// `simulation` and `finished` must outlive the runner. For `schedule`, see CoroutineScope.
  ArrayRunner(Simulation& simulation, FinishedRequests& finished, std::uint64_t schedule = 0)
      : CoroutineScope(schedule), simulation_(simulation), finished_(finished) {}

  using Waiters = std::vector<std::coroutine_handle<>>;
  struct Sleep {
    ArrayRunner& runner;
    TimeNs at;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { runner.wake_at(at, waiter); }
    void await_resume() const {}
  };
  /// Waits until wake_all() is called with this list.
  struct Wait {
    Waiters& list;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> waiter) { list.push_back(waiter); }
    void await_resume() const {}
  };
  struct Join {
    ArrayRunner& runner;
    std::uint32_t running = 0;
    Status status = Status::ok;
    Breakdown breakdown;  ///< from the last coroutine to arrive
    std::coroutine_handle<> waiter;

    void arrive(Status s, const Breakdown& b);
    bool await_ready() const { return running == 0; }
    void await_suspend(std::coroutine_handle<> h) { waiter = h; }
    void await_resume() const {}
  };

  Sleep until(TimeNs at) { return Sleep{*this, at}; }
  /// Waits for an event at the current time. A request therefore never completes inside submit().
  Sleep until_event() { return until(simulation_.now()); }
  /// Waits until the controller has worked for `ns`. The controller does only one such piece of
  /// work at a time.
  Sleep work(TimeNs ns);
  void wake_all(Waiters& list);
  using CoroutineScope::cancel_all;
  using CoroutineScope::make_ready;

  void run();
  void drain_later();
  /// Destroys all suspended coroutines and drops the controller's pending work.
  void power_cut();

 private:
  enum class Tag : std::uint64_t { drain, wake };
  struct Sleeper {
    std::coroutine_handle<> waiter;
    /// Incremented when a sleep ends, so that events of earlier sleeps are ignored.
    std::uint32_t turn = 0;
  };

  void on_event(std::uint64_t tag) override;
  void schedule(TimeNs at, Tag tag, std::uint64_t value = 0);
  void wake_at(TimeNs at, std::coroutine_handle<> waiter);

  Simulation& simulation_;
  FinishedRequests& finished_;
  std::vector<Sleeper> sleepers_;
  std::vector<std::uint32_t> free_sleepers_;
  bool running_ = false, drain_scheduled_ = false;
  TimeNs free_at_ = 0;  ///< time at which the controller finishes its current work
};

}  // namespace headcrash::model
