#pragma once
// Lets model time follow wall time, and lets threads wait for model events without a dispatcher.
//
// One mutex guards the machine. With clock=real, model time is (CLOCK_MONOTONIC - anchor) / K, and
// a thread that takes the mutex first runs the due events. Threads that wait for a request follow
// the leader/follower pattern. The leader sleeps until the next event of the model is due (it spins
// for the last 50 to 500 us), runs the event, and wakes the threads whose requests have completed.
// When its own request completes, it appoints the next leader. A client with one request in flight
// therefore never waits for a thread switch.
//
//   request threads   [submit .. lead: sleep until next event, run it, .. done -> appoint a leader]
//                     [submit .. follow: sleep until done or appointed ........ done]
//   background        leads while no request waits, at most once a millisecond: destage, armed cuts
//
// A completion is an event. The leader runs events kPrepareNs early, so that bytes are copied and
// locks are taken before the modelled instant. It holds the answer until that instant. With a
// `lead` (transport_time.h), the answer leaves earlier by the lead, but still reaches the client at
// the modelled instant or later.
//
//   wall:  ...sleep...|..spin..|run the event|..hold..|answer leaves .. travels to the client .. |
//                              ^ kPrepareNs           ^ instant - lead      instant, or later ^
//
// With clock=off, a request is submitted at simulation.now(), and events run under the mutex until
// the request completes; no thread waits.
//
// In virtual time no thread waits and there is no background work: one thread submits requests,
// advances time step by step, and finds the completions (plugin/servers/timetravel).
//
// shut_down() aborts all waits. The model then runs ahead until no request is in flight, because a
// device may access a request's buffers until the request completes. These requests are answered
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
  bool shut_down = false;       ///< the server is stopping; the outcome of the request is unknown
  bool backing_failed = false;  ///< the storage failed; see fail_when
};

/// Latencies of a device's successful requests, in model nanoseconds. `flush` covers flushes; the
/// other histograms cover reads and writes.
struct DeviceLatency {
  LatencyHistogram target;    ///< the modelled response time
  LatencyHistogram achieved;  ///< wall time from the callback's entry to its return, divided by K
  /// wall time from the modelled completion to the return, divided by K
  LatencyHistogram lateness;
  LatencyHistogram flush;  ///< the modelled response time of flushes
  LoadSeries load;         ///< load since the statistics were last taken
};

class Pacer {
 public:
  /// The machine must outlive the pacer. After construction, it may be used only through the pacer.
  Pacer(model::Machine& machine, const Clock& clock);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  /// Sets a function that returns true if requests must fail. The function is called for every
  /// request, with the mutex held. REQUIRES: start() has not been called yet.
  void fail_when(std::function<bool()> failed) { failed_ = std::move(failed); }

  void start();      ///< starts the background thread
  void shut_down();  ///< aborts all waits and rejects new requests
  void stop();       ///< shut_down(), then joins the background thread

  /// Submits a request and returns no earlier than the instant at which the request completes. Sets
  /// `request.id`. An exception in the model (out of memory) terminates the server. It cannot be
  /// handled, because the model refers to requests on the stacks of other threads, which are still
  /// waiting.
  Served serve(std::size_t device_index, const model::Request& request) noexcept;

  /// Runs `work(machine)` at the current model time, with the mutex held.
  template <typename Work>
  auto with_machine(Work work) {
    const std::lock_guard lock(mutex_);
    catch_up();
    const AfterChange after{*this};
    return work(machine_);
  }

  // ---- virtual time

  /// Submits a request. A later step() completes `initiator`, with the mutex held.
  void submit(std::size_t device_index, const model::Request& request, model::Initiator& initiator);
  /// Runs the next event if it is due by `until`; otherwise advances time to `until`. Returns true
  /// if an event ran.
  bool step(model::TimeNs until);
  std::optional<model::TimeNs> next_event() const;
  model::TimeNs now() const;
  bool has_power() const;
  std::uint64_t power_cuts() const;
  /// Adds a completed request to the statistics, and returns the result of the request.
  Served account(std::size_t device_index, const model::Request& request,
                 const model::Completion& completion);

  Clock clock() const;
  /// With clock=off, returns true: serve() then runs the model ahead and never waits. Lock-free.
  bool answers_at_once() const { return answers_at_once_.load(std::memory_order_relaxed); }
  void set_clock(const Clock& clock);  ///< model time continues without a jump

  /// Sets the lead. Answers are sent this much earlier than the modelled completion, to allow for
  /// the time that the transport takes.
  void set_lead(WallNs lead_ns);
  WallNs lead_ns() const;

  enum class PowerWait : std::uint8_t { off, time_over, stopping };
  /// Waits until the power is off. After shut_down(), returns `stopping` immediately and must not
  /// be called again.
  PowerWait wait_power_off(std::chrono::nanoseconds timeout);

  /// Waits until a request has been pending for kLongWaitNs. Returns false after stop(). Called by
  /// the thread that detects termination signals.
  bool wait_for_long_request();

  /// Returns the statistics of a device; use within with_machine().
  DeviceLatency& latency(std::size_t device_index) { return latencies_[device_index]; }
  /// Returns the maximum number of requests in flight at the same time. The caller may assign 0 to
  /// start again. Use within with_machine().
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
  void catch_up();        ///< runs the due events
  void run_ahead();       ///< also runs events that the leader may prepare early
  void run_one();         ///< runs the next event; REQUIRES: there is an event
  void finish_waiting();  ///< runs events until no request waits
  void after_change();    ///< call after any change of the machine other than a request
  void note_power();
  void rouse_leader();
  Served serve_unpaced(std::size_t device_index, const model::Request& request);
  void await(Lock& lock, Waiter& waiter);
  void lead(Lock& lock, Waiter& waiter);
  void leave(Waiter& waiter);
  void hold(Lock& lock, const Waiter& waiter);
  void count(std::size_t device_index, const model::Request& request, const Waiter& waiter);
  /// Adds a request's modelled time to the statistics. Modelled times do not depend on the clock.
  /// Returns true for a read or a write.
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

  std::list<Waiter*> waiters_;  ///< requests in flight, oldest first
  std::size_t in_flight_max_ = 0;
  Waiter* leader_ = nullptr;
  model::TimeNs leader_target_ = 0;  ///< time of the event for which the leader is sleeping
  /// set by rouse_leader(), so that a leader stops spinning
  std::atomic<bool> leader_roused_ = false;
  /// estimate of the leaders' wake-up delay; rises fast, falls slowly
  WallNs oversleep_ns_ = 0;
  WallNs lead_ns_ = 0;
  bool shutting_down_ = false;

  std::uint64_t power_cuts_seen_ = 0;
  std::condition_variable power_off_;

  std::thread background_;
  std::condition_variable background_wake_;
  bool stopping_ = false;
  /// the background thread is sleeping until a request is submitted
  bool background_parked_ = false;
  std::uint64_t submissions_ = 0;
  bool long_wait_ = false;
  std::condition_variable long_wait_wake_;
};

}  // namespace headcrash::emulation
