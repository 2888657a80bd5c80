#include "plugin/servers/emulation/pacer.h"

#include <sys/prctl.h>

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::emulation {
namespace {

constexpr WallNs kSpinMinNs = 50 * model::kMicrosecondNs;
constexpr WallNs kSpinMaxNs = 500 * model::kMicrosecondNs;
constexpr WallNs kPrepareNs = 15 * model::kMicrosecondNs;
/// Minimum interval between two background runs.
constexpr WallNs kBackgroundStepNs = model::kMillisecondNs;
constexpr WallNs kBackgroundTickNs = 10 * model::kMillisecondNs;
constexpr int kTicksToPark = 100;
constexpr WallNs kLongWaitNs = 50 * model::kMillisecondNs;

std::chrono::steady_clock::time_point time_point(WallNs wall) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(wall));
}

/// Makes this thread's timers precise; by default, the kernel allows a slack of 50 us. One call per
/// thread would suffice, but this function is called for each request, at a cost of 0.1 us. A
/// thread_local flag is not possible: when the plugin is unloaded, the C library frees thread_local
/// variables in a way that ThreadSanitizer does not recognise.
void sharpen_timers() {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Pacer::Pacer(model::Machine& machine, const Clock& clock)
    : machine_(machine),
      simulation_(machine.simulation()),
      clock_(clock),
      answers_at_once_(clock.kind == Clock::Kind::off),
      anchor_{wall_now(), simulation_.now(), clock.slowdown},
      latencies_(machine.device_count()),
      power_cuts_seen_(machine.power_cuts()) {}

Pacer::~Pacer() {
  stop();
}

void Pacer::start() {
  const std::lock_guard lock(mutex_);
  anchor_ = {wall_now(), simulation_.now(), clock_.slowdown};
  background_ = std::thread([this] { run_background(); });
}

void Pacer::shut_down() {
  const std::lock_guard lock(mutex_);
  if (shutting_down_) return;
  shutting_down_ = true;
  finish_waiting();
  power_off_.notify_all();
}

void Pacer::stop() {
  shut_down();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    background_wake_.notify_one();
    long_wait_wake_.notify_all();
  }
  if (background_.joinable()) background_.join();
}

Clock Pacer::clock() const {
  const std::lock_guard lock(mutex_);
  return clock_;
}

void Pacer::set_clock(const Clock& clock) {
  const std::lock_guard lock(mutex_);
  catch_up();
  clock_ = clock;
  answers_at_once_ = clock.kind == Clock::Kind::off;
  anchor_ = {wall_now(), simulation_.now(), clock.slowdown};
  ++clock_changes_;
  if (!paced()) finish_waiting();
  after_change();
}

void Pacer::set_lead(WallNs lead_ns) {
  const std::lock_guard lock(mutex_);
  lead_ns_ = lead_ns;
}

WallNs Pacer::lead_ns() const {
  const std::lock_guard lock(mutex_);
  return lead_ns_;
}

Pacer::PowerWait Pacer::wait_power_off(std::chrono::nanoseconds timeout) {
  Lock lock(mutex_);
  catch_up();
  const auto off = [this] { return machine_.power() == model::PowerState::off; };
  power_off_.wait_for(lock, timeout, [&] { return shutting_down_ || off(); });
  if (off()) return PowerWait::off;
  return shutting_down_ ? PowerWait::stopping : PowerWait::time_over;
}

// ---- running the model

void Pacer::catch_up() {
  if (!paced()) return;
  simulation_.run_until(std::max(simulation_.now(), anchor_.model_at(wall_now())));
  note_power();
}

/// Runs all events that are due, and those that the leader may prepare early. Model time stops at
/// the last event that has run, so no new request is submitted in the model's past.
void Pacer::run_ahead() {
  const model::TimeNs limit = anchor_.model_at(wall_now() + lead_ns_ + kPrepareNs);
  for (auto next = simulation_.next_event(); next && *next <= limit;
       next = simulation_.next_event())
    run_one();
  note_power();
}

void Pacer::run_one() {
  const bool happened = simulation_.run_next();
  invariant(happened, "a waiting request must still have a scheduled event");
}

void Pacer::finish_waiting() {
  for (Waiter* waiter : waiters_)
    while (!waiter->done) run_one();
  if (paced()) anchor_ = {wall_now(), simulation_.now(), clock_.slowdown};
  note_power();
}

void Pacer::after_change() {
  note_power();
  if (leader_ != nullptr) return rouse_leader();
  background_wake_.notify_one();
}

void Pacer::note_power() {
  if (machine_.power_cuts() == power_cuts_seen_) return;
  power_cuts_seen_ = machine_.power_cuts();
  // In virtual time, observers must see a cut and the end of the requests in flight together, so
  // the events of this instant are run here.
  if (clock_.kind == Clock::Kind::virtual_time) simulation_.run_until(simulation_.now());
  power_off_.notify_all();
}

void Pacer::rouse_leader() {
  leader_roused_.store(true, std::memory_order_relaxed);
  leader_->wake.notify_one();
}

// ---- requests

Served Pacer::serve(std::size_t device_index, const model::Request& request) noexcept {
  Waiter waiter;
  waiter.entered = wall_now();
  Lock lock(mutex_);
  if (shutting_down_) return {.shut_down = true};
  if (!paced()) return serve_unpaced(device_index, request);
  sharpen_timers();
  catch_up();
  ++submissions_;
  waiter.clock_changes = clock_changes_;
  machine_.submit(device_index, request, waiter);
  waiters_.push_back(&waiter);
  in_flight_max_ = std::max(in_flight_max_, waiters_.size());
  if (background_parked_) background_wake_.notify_one();
  if (leader_ != nullptr && simulation_.next_event().value_or(model::kNever) < leader_target_)
    rouse_leader();
  await(lock, waiter);
  leave(waiter);
  hold(lock, waiter);
  count(device_index, request, waiter);
  return {waiter.completion.status, shutting_down_, failed_ && failed_()};
}

Served Pacer::serve_unpaced(std::size_t device_index, const model::Request& request) {
  struct : model::Initiator {
    void completed(const model::Completion& done_with) override {
      completion = done_with;
      done = true;
    }
    model::Completion completion;
    bool done = false;
  } owner;
  machine_.submit(device_index, request, owner);
  while (!owner.done) run_one();
  note_power();
  count_modelled(device_index, request, owner.completion);
  return {owner.completion.status, false, failed_ && failed_()};
}

void Pacer::await(Lock& lock, Waiter& waiter) {
  while (!waiter.done) {
    if (leader_ == nullptr) leader_ = &waiter;
    if (leader_ == &waiter) {
      lead(lock, waiter);
    } else {
      waiter.wake.wait(lock);
    }
  }
}

/// Sleeps until the next event must be prepared or the leader is roused, then runs due events. An
/// idle host sleeps deeply and wakes up late. The sleep is therefore shortened by an estimate of
/// this delay, and the leader spins for the rest. The estimate rises at once and falls slowly, so
/// that nearly all sleeps end in time.
void Pacer::lead(Lock& lock, Waiter& waiter) {
  const auto next = simulation_.next_event();
  invariant(next.has_value(), "a waiting request must still have a scheduled event");
  leader_target_ = *next;
  leader_roused_.store(false, std::memory_order_relaxed);
  const WallNs deadline = anchor_.wall_at(*next) - lead_ns_ - kPrepareNs;
  const WallNs now = wall_now();
  const WallNs spin = std::clamp(oversleep_ns_ + oversleep_ns_ / 4, kSpinMinNs, kSpinMaxNs);
  if (deadline - now > spin) {
    if (waiter.wake.wait_until(lock, time_point(deadline - spin)) == std::cv_status::timeout) {
      const WallNs late = std::min(wall_now() - (deadline - spin), kSpinMaxNs);
      oversleep_ns_ +=
          late > oversleep_ns_ ? (late - oversleep_ns_) / 2 : (late - oversleep_ns_) / 128;
    }
  } else if (deadline > now) {
    lock.unlock();
    while (wall_now() < deadline && !leader_roused_.load(std::memory_order_relaxed))
      relax_processor();
    lock.lock();
  }
  if (paced()) run_ahead();
}

/// Removes a finished request. If its thread was the leader, the thread of the oldest waiting
/// request becomes the leader.
void Pacer::leave(Waiter& waiter) {
  waiters_.remove(&waiter);
  if (leader_ != &waiter) return;
  leader_ = nullptr;
  const auto next =
      std::find_if(waiters_.begin(), waiters_.end(), [](const Waiter* w) { return !w->done; });
  if (next == waiters_.end()) return;
  leader_ = *next;
  leader_->wake.notify_one();
}

/// Waits until a prepared answer may be sent, that is, until lead_ns_ before the modelled
/// completion. This takes at most kPrepareNs.
void Pacer::hold(Lock& lock, const Waiter& waiter) {
  if (!paced() || waiter.clock_changes != clock_changes_ || shutting_down_) return;
  const WallNs due = anchor_.wall_at(waiter.completion.completed_at) - lead_ns_;
  if (wall_now() >= due) return;
  lock.unlock();
  while (wall_now() < due) relax_processor();
  lock.lock();
}

bool Pacer::count_modelled(std::size_t device_index, const model::Request& request,
                           const model::Completion& completion) {
  if (completion.status != model::Status::ok) return false;
  DeviceLatency& latency = latencies_[device_index];
  latency.load.completed(request.op, request.sectors, completion.submitted_at,
                         completion.completed_at);
  const model::TimeNs took = completion.completed_at - completion.submitted_at;
  if (request.op == model::Op::flush) latency.flush.record(took);
  if (request.op != model::Op::read && request.op != model::Op::write) return false;
  latency.target.record(took);
  return true;
}

void Pacer::count(std::size_t device_index, const model::Request& request, const Waiter& waiter) {
  const model::Completion& completion = waiter.completion;
  if (!count_modelled(device_index, request, completion)) return;
  DeviceLatency& latency = latencies_[device_index];
  if (waiter.clock_changes != clock_changes_ || shutting_down_)
    return;  // the clock has changed since this request was submitted
  const WallNs now = wall_now();
  const auto scaled = [this](WallNs wall) {
    return static_cast<model::TimeNs>(static_cast<double>(wall) / clock_.slowdown);
  };
  latency.achieved.record(scaled(now - waiter.entered + lead_ns_));
  latency.lateness.record(scaled(now - anchor_.wall_at(completion.completed_at) + lead_ns_));
}

// ---- virtual time

void Pacer::submit(std::size_t device_index, const model::Request& request,
                   model::Initiator& initiator) {
  const std::lock_guard lock(mutex_);
  machine_.submit(device_index, request, initiator);
}

bool Pacer::step(model::TimeNs until) {
  const std::lock_guard lock(mutex_);
  const auto next = simulation_.next_event();
  if (!next || *next > until) {
    simulation_.run_until(std::max(until, simulation_.now()));
    return false;
  }
  run_one();
  note_power();
  return true;
}

std::optional<model::TimeNs> Pacer::next_event() const {
  const std::lock_guard lock(mutex_);
  return simulation_.next_event();
}

model::TimeNs Pacer::now() const {
  const std::lock_guard lock(mutex_);
  return simulation_.now();
}

bool Pacer::has_power() const {
  const std::lock_guard lock(mutex_);
  return machine_.power() == model::PowerState::on;
}

std::uint64_t Pacer::power_cuts() const {
  const std::lock_guard lock(mutex_);
  return machine_.power_cuts();
}

Served Pacer::account(std::size_t device_index, const model::Request& request,
                      const model::Completion& completion) {
  const std::lock_guard lock(mutex_);
  count_modelled(device_index, request, completion);
  return {completion.status, shutting_down_, failed_ && failed_()};
}

// ---- the background thread

void Pacer::run_background() {
  sharpen_timers();
  Lock lock(mutex_);
  std::uint64_t submissions_seen = 0;
  int idle_ticks = 0;
  while (!stopping_) {
    if (leader_ == nullptr) catch_up();
    const WallNs now = wall_now();
    watch_long_waits(now);
    idle_ticks = submissions_ != submissions_seen || !waiters_.empty() ? 0 : idle_ticks + 1;
    submissions_seen = submissions_;
    background_parked_ = !paced() || idle_ticks >= kTicksToPark;
    WallNs until = background_parked_ ? model::kNever / 2 : now + kBackgroundTickNs;
    const auto next = simulation_.next_event();
    if (paced() && leader_ == nullptr && next)
      until = std::min(until, std::max(anchor_.wall_at(*next), now + kBackgroundStepNs));
    background_wake_.wait_until(lock, time_point(until));
  }
}

void Pacer::watch_long_waits(WallNs now) {
  long_wait_ = !waiters_.empty() && now - waiters_.front()->entered > kLongWaitNs;
  if (long_wait_) long_wait_wake_.notify_all();
}

bool Pacer::wait_for_long_request() {
  Lock lock(mutex_);
  long_wait_wake_.wait(lock, [this] { return stopping_ || long_wait_; });
  return !stopping_;
}

}  // namespace headcrash::emulation
