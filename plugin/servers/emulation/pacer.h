#pragma once
// Lets model time follow wall time, and threads wait for model events without a dispatcher between
// them.
//
// One mutex guards the machine. With clock=real, model time is (CLOCK_MONOTONIC - anchor) / K, and
// everybody who takes the mutex first lets the events happen that are due. Threads that wait for a
// request follow the leader/follower pattern: one of them, the leader, sleeps until the next event
// of the model is due (the last 50 to 500 us it spins), runs it, and wakes the owners of the
// requests that are complete; when its own is, it names the next leader. A client with one request
// in flight thus never waits for a thread switch.
//
//   request threads   [submit .. lead: sleep until next event, run it, sleep .. done -> name a leader]
//                     [submit .. follow: sleep until done or named .......... done]
//   background        leads when no request waits, at most once a millisecond: destage, armed cuts
//
// A completion is an event. The leader runs events kPrepareNs before their instant, so that bytes
// are copied and locks taken when it comes, and holds the answer back until then: none leaves
// early. With a `lead` (transport_time.h) the instant at which an answer is to leave is so much
// before the modelled one, and the client has it at the modelled one at the earliest.
//
//   wall:  ...sleep...|..spin..|run the event|..hold..|answer leaves ....way to the client.... |
//                              ^ kPrepareNs           ^ instant - lead      instant, or later ^
//
// With clock=off a request is submitted at simulation.now() and events run under the mutex until it
// is complete; nobody ever waits.
//
// In virtual time nobody waits here and nothing happens by itself: one thread submits, lets time
// pass step by step, and finds out what that has completed (plugin/servers/timetravel).
//
// Every wait ends at once on shut_down(): the model runs ahead until no request is inside any more,
// because a device may touch a request's buffers up to its completion; these requests are answered
// with `shut_down`.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/base/latency_histogram.h"
#include "plugin/model/core/machine.h"
#include "plugin/servers/emulation/clock.h"
#include "plugin/servers/emulation/load_series.h"

namespace headcrash::emulation {

struct Served {
  model::Status status = model::Status::ok;
  bool shut_down = false;       ///< the server is stopping: nothing is known about the request
  bool backing_failed = false;  ///< see fail_when
};

/// Of one device, over requests that succeeded, in model nanoseconds: of reads and writes, and
/// `flush` of flushes.
struct DeviceLatency {
  LatencyHistogram target;    ///< the modelled response time
  LatencyHistogram achieved;  ///< wall time from the callback's entry to its return, divided by K
  LatencyHistogram lateness;  ///< wall time from the modelled instant to the return, divided by K
  LatencyHistogram flush;     ///< the modelled response time of flushes
  LoadSeries load;            ///< since the interval began
};

class Pacer {
 public:
  /// The machine must outlive the pacer and is touched only through it from now on.
  Pacer(model::Machine& machine, const Clock& clock);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  /// From now on every request is also judged by `failed`, under the mutex. Before start().
  void fail_when(std::function<bool()> failed) { failed_ = std::move(failed); }

  void start();      ///< starts the background thread
  void shut_down();  ///< ends all waits, refuses new requests
  void stop();       ///< shut_down(), then joins the background thread

  /// Submits and returns no earlier than the completion's instant. `request.id` is filled in.
  /// An exception of the model (no memory left) ends the server: other requests wait on their
  /// stacks, and what the model holds of them could not be taken back.
  Served serve(std::size_t device_index, const model::Request& request) noexcept;

  /// Runs `work(machine)` at the present model time, under the mutex.
  template <typename Work>
  auto with_machine(Work work) {
    const std::lock_guard lock(mutex_);
    catch_up();
    const AfterChange after{*this};
    return work(machine_);
  }

  // ---- virtual time

  /// Submits; `initiator` is told by a later step(), under the mutex.
  void submit(std::size_t device_index, const model::Request& request, model::Initiator& initiator);
  /// Lets the next event happen if it is due by `until`; if there is none, it is `until` from now
  /// on. True: an event.
  bool step(model::TimeNs until);
  std::optional<model::TimeNs> next_event() const;
  model::TimeNs now() const;
  bool has_power() const;
  std::uint64_t power_cuts() const;
  /// The completion of a request that was submitted so, for the statistics and its answer.
  Served account(std::size_t device_index, const model::Request& request,
                 const model::Completion& completion);

  Clock clock() const;
  /// With clock=off: serve() runs the model ahead and never waits. Takes no lock.
  bool answers_at_once() const { return answers_at_once_.load(std::memory_order_relaxed); }
  void set_clock(const Clock& clock);  ///< model time continues from where it is

  /// From now on answers leave so long before their modelled instant.
  void set_lead(WallNs lead_ns);
  WallNs lead_ns() const;

  enum class PowerWait : std::uint8_t { off, time_over, stopping };
  /// Waits until the power is off. From shut_down() on it answers `stopping` at once: do not ask
  /// again.
  PowerWait wait_power_off(std::chrono::nanoseconds timeout);

  /// Waits until some request has waited for long (kLongWaitNs); false at stop(). For the watcher
  /// of the server's end.
  bool wait_for_long_request();

  /// Call under with_machine: the statistics of a device.
  DeviceLatency& latency(std::size_t device_index) { return latencies_[device_index]; }
  /// Likewise: the greatest number of requests that waited together since it was last set to 0.
  std::size_t& in_flight_max() { return in_flight_max_; }

 private:
  struct Waiter : model::Initiator {
    void completed(const model::Completion& done_with) override {
      completion = done_with;
      done = true;
      wake.notify_one();
    }
    model::Completion completion;
    bool done = false;
    WallNs entered = 0;
    std::uint64_t clock_changes = 0;
    std::condition_variable wake;
  };
  struct AfterChange {
    Pacer& pacer;
    ~AfterChange() { pacer.after_change(); }
  };
  using Lock = std::unique_lock<std::mutex>;

  bool paced() const { return clock_.kind == Clock::Kind::real; }
  void catch_up();        ///< runs the events that are due
  void run_ahead();       ///< ... and those that the leader may prepare
  void run_one();         ///< runs the next event, which there must be
  void finish_waiting();  ///< runs ahead until no request waits
  void after_change();    ///< somebody else than a request has changed the machine
  void note_power();
  void rouse_leader();
  Served serve_unpaced(std::size_t device_index, const model::Request& request);
  void await(Lock& lock, Waiter& waiter);
  void lead(Lock& lock, Waiter& waiter);
  void leave(Waiter& waiter);
  void hold(Lock& lock, const Waiter& waiter);
  void count(std::size_t device_index, const model::Request& request, const Waiter& waiter);
  /// What the model says of it, whatever the clock. True: a read or a write.
  bool count_modelled(std::size_t device_index, const model::Request& request,
                      const model::Completion& completion);
  void run_background();
  void watch_long_waits(WallNs now);

  model::Machine& machine_;
  model::Simulation& simulation_;
  mutable std::mutex mutex_;
  std::function<bool()> failed_;
  Clock clock_;
  std::atomic<bool> answers_at_once_;
  ClockAnchor anchor_;
  std::uint64_t clock_changes_ = 0;
  std::vector<DeviceLatency> latencies_;

  std::list<Waiter*> waiters_;  ///< requests inside, oldest first
  std::size_t in_flight_max_ = 0;
  Waiter* leader_ = nullptr;
  model::TimeNs leader_target_ = 0;          ///< the event that the leader sleeps for
  std::atomic<bool> leader_roused_ = false;  ///< ends the leader's spin
  WallNs oversleep_ns_ = 0;  ///< by how much leaders wake up late: a moving upper bound
  WallNs lead_ns_ = 0;
  bool shutting_down_ = false;

  std::uint64_t power_cuts_seen_ = 0;
  std::condition_variable power_off_;

  std::thread background_;
  std::condition_variable background_wake_;
  bool stopping_ = false;
  bool background_parked_ = false;  ///< it sleeps until somebody submits
  std::uint64_t submissions_ = 0;
  bool long_wait_ = false;
  std::condition_variable long_wait_wake_;
};

}  // namespace headcrash::emulation
