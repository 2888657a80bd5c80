// Fibers (executor.h).
//
//   run() -> [run queue] -> fiber -> next fiber -> ... -> run()
//
// A fiber that stops running switches directly to the next one; this halves the number of switches.
// Control returns to run() when the queue is empty, when a fiber ends, and from time to time, so
// that fibers that never wait do not delay events posted to a real clock.
//
// A fiber is in one list at a time, the run queue or a wait queue. The lists are linked through the
// fibers, so they need no additional memory. A sleep during which no other fiber can run does not
// switch at all: the clock advances on the sleeper's stack. During the advance, current() is null,
// so that an event handler that tries to wait is detected.
#include "fs-adapters/substrate/os/executor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fs-adapters/substrate/os/fiber_context.h"
#include "plugin/base/invariant.h"

namespace headcrash::os {

class Fiber {
 public:
  Fiber(Executor::State& owner, std::unique_ptr<FiberStack> memory, void (*entry)(void*))
      : state(owner), stack(std::move(memory)), context(*stack, entry, this) {}

  Executor::State& state;
  std::unique_ptr<FiberStack> stack;
  FiberContext context;
  std::function<void()> body;
  Account* account = nullptr;
  Executor::Kind kind = Executor::Kind::user;
  std::uint64_t number = 0;  ///< number of the fiber, in spawn order
  Fiber* next = nullptr;     ///< next fiber in the run queue or a wait queue
  /// Fibers with higher values run first. 0 for all fibers if the executor has no schedule.
  std::int64_t priority = 0;
  const FiberLock* awaited = nullptr;  ///< the FiberLock for which the fiber is waiting
};

namespace {

/// Inserts a fiber into a list that is sorted by priority, after all fibers of equal priority.
void insert_by_priority(Fiber& fiber, Fiber*& first, Fiber*& last) {
  fiber.next = nullptr;
  if (first == nullptr || last->priority >= fiber.priority) {
    (first == nullptr ? first : last->next) = &fiber;
    last = &fiber;
    return;
  }
  Fiber** at = &first;
  while ((*at)->priority >= fiber.priority) at = &(*at)->next;
  fiber.next = *at;
  *at = &fiber;
}

}  // namespace

struct Executor::State {
  State(Clock& time, const ExecutorOptions& options)
      : clock(time),
        stacks(options.stack_bytes),
        fibers_max(options.fibers_max),
        made_schedule(make_schedule(options.schedule)),
        schedule(options.own_schedule != nullptr ? options.own_schedule : made_schedule.get()) {}

  struct Sleeper {
    TimeNs at = 0;
    std::uint64_t sequence = 0;
    Fiber* fiber = nullptr;
  };
  static bool later(const Sleeper& a, const Sleeper& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  void make_runnable(Fiber& fiber);
  /// Moves the fiber that the schedule selects to the front of the run queue.
  void choose_first();
  void move_to_front(std::size_t number);
  std::size_t equals_of_first() const;
  void possible_switch();
  /// Stops the current fiber and runs other fibers until the current fiber is runnable again. The
  /// caller must have put the fiber into the run queue or a wait queue, unless other code will make
  /// it runnable later.
  void stop_current();
  void switch_to_first();
  void stopping();
  void sleep(TimeNs at);
  void run_runnable();
  void wake_sleepers();
  void let_time_pass(TimeNs until);
  void check_users_run();
  [[noreturn]] void complain(const char* what) const;
  static void begin(void* fiber);
  void reap(Fiber& fiber);

  static constexpr int kSwitchesAtOnce = 256;
  static constexpr TimeNs kUsersStuckNs = 3 * 86400 * model::kSecondNs;

  Clock& clock;
  FiberStacks stacks;
  std::size_t fibers_max;
  std::unique_ptr<FiberSchedule> made_schedule;
  FiberSchedule* schedule;  ///< null for FIFO order
  FiberContext main;
  std::vector<std::unique_ptr<Fiber>> fibers;
  Fiber* first = nullptr;  ///< the run queue: runnable fibers, by priority
  Fiber* last = nullptr;
  std::vector<Sleeper> sleepers;  ///< a heap; the sleeper that wakes first is on top
  Fiber* current = nullptr;
  Fiber* ended = nullptr;
  StopListener* listener = nullptr;
  std::uint64_t sequence = 0;
  std::size_t users = 0;
  int switches_left = kSwitchesAtOnce;
  TimeNs limit = 0;       ///< time at which run_until() returns; the clock must not pass it
  bool user_ran = false;  ///< true if a user has run since the last deadlock check
  TimeNs user_ran_at = 0;
  bool halted = false;
};

void Executor::State::make_runnable(Fiber& fiber) {
  if (fiber.kind == Kind::user) user_ran = true;
  insert_by_priority(fiber, first, last);
}

/// Returns the number of runnable fibers that share the highest priority.
std::size_t Executor::State::equals_of_first() const {
  std::size_t count = 0;
  for (const Fiber* at = first; at != nullptr && at->priority == first->priority; at = at->next)
    ++count;
  return count;
}

void Executor::State::move_to_front(std::size_t number) {
  if (number == 0) return;
  Fiber* before = first;
  for (; number > 1; --number) before = before->next;
  Fiber* const chosen = before->next;
  before->next = chosen->next;
  if (last == chosen) last = before;
  chosen->next = first;
  first = chosen;
}

void Executor::State::choose_first() {
  if (first == nullptr) return;
  if (const std::size_t count = equals_of_first(); count > 1)
    move_to_front(schedule->choose(count));
}

void Executor::State::possible_switch() {
  if (current == nullptr || halted) return;
  Fiber& self = *current;
  const FiberSchedule::Step step = schedule->step(self.priority);
  self.priority = step.priority;
  if (step.hold_ns > 0) return sleep(clock.now() + step.hold_ns);
  if (first == nullptr || first->priority < self.priority) return;
  if (first->priority == self.priority) {
    const std::size_t chosen = schedule->choose(equals_of_first() + 1);
    if (chosen == 0) return;
    move_to_front(chosen - 1);
  }
  stopping();
  make_runnable(self);
  switch_to_first();
}

void Executor::State::stopping() {
  if (listener != nullptr) listener->stopped(*current);
}

void Executor::State::stop_current() {
  if (schedule != nullptr) choose_first();
  switch_to_first();
}

void Executor::State::switch_to_first() {
  Fiber& self = *current;
  Fiber* to = first;
  if (to == nullptr || --switches_left <= 0) {
    current = nullptr;
    self.context.switch_to(main);
  } else {
    first = to->next;
    current = to;
    if (to != &self) self.context.switch_to(to->context);
  }
  current = &self;
}

void Executor::State::begin(void* argument) {
  Fiber& self = *static_cast<Fiber*>(argument);
  self.state.current = &self;
  self.body();
  self.body = nullptr;
  State& state = self.state;
  state.stopping();
  state.ended = &self;
  state.current = nullptr;
  self.context.leave_for(state.main);
}

void Executor::State::reap(Fiber& fiber) {
  if (fiber.kind == Kind::user) --users;
  stacks.give_back(std::move(fiber.stack));
  const auto it =
      std::find_if(fibers.begin(), fibers.end(), [&](const auto& f) { return f.get() == &fiber; });
  fibers.erase(it);
}

/// Runs fibers until no fiber is runnable, but returns early after a limited number of switches.
void Executor::State::run_runnable() {
  if (schedule != nullptr) choose_first();
  Fiber& fiber = *first;
  first = fiber.next;
  switches_left = kSwitchesAtOnce;
  current = &fiber;
  main.switch_to(fiber.context);
  current = nullptr;
  if (ended != nullptr) reap(*std::exchange(ended, nullptr));
}

void Executor::State::wake_sleepers() {
  const TimeNs now = clock.now();
  while (!sleepers.empty() && (halted || sleepers.front().at <= now)) {
    std::pop_heap(sleepers.begin(), sleepers.end(), later);
    make_runnable(*sleepers.back().fiber);
    sleepers.pop_back();
  }
}

void Executor::State::let_time_pass(TimeNs until) {
  if (!sleepers.empty()) until = std::min(until, sleepers.front().at);
  if (!clock.pass_until(until)) complain("deadlock: every fiber waits and no event is pending");
  wake_sleepers();
  check_users_run();
}

void Executor::State::check_users_run() {
  if (std::exchange(user_ran, false)) user_ran_at = clock.now();
  if (users == 0 || limit != model::kNever || clock.now() - user_ran_at <= kUsersStuckNs) return;
  const auto is_user = [](const Sleeper& sleeper) { return sleeper.fiber->kind == Kind::user; };
  user_ran = std::any_of(sleepers.begin(), sleepers.end(), is_user);
  if (!user_ran) complain("deadlock: no user fiber has run for 3 days of model time");
}

void Executor::State::complain(const char* what) const {
  std::string message = what;
  const char* separator = "; waiting: ";
  for (const auto& fiber : fibers) {
    message +=
        separator + fiber->account->name + (fiber->kind == Kind::user ? " (user)" : " (daemon)");
    separator = ", ";
  }
  invariant(false, message.c_str());
  std::abort();
}

void Executor::State::sleep(TimeNs at) {
  if (halted || clock.now() >= at) return;
  stopping();
  Fiber& self = *current;
  if (self.kind == Kind::user) user_ran = true;
  while (!halted && clock.now() < at && first == nullptr && at <= limit &&
         (sleepers.empty() || sleepers.front().at > at)) {
    current = nullptr;
    clock.pass_until(at);
    current = &self;
    check_users_run();
  }
  if (halted || clock.now() >= at) return;
  sleepers.push_back({at, ++sequence, &self});
  std::push_heap(sleepers.begin(), sleepers.end(), later);
  stop_current();
}

Executor::Executor(Clock& clock, const ExecutorOptions& options)
    : state_(std::make_unique<State>(clock, options)), schedule_(state_->schedule) {}

Executor::~Executor() {
  if (!state_->fibers.empty())
    state_->complain("an executor was destroyed before its fibers ended; call halt() first");
}

void Executor::spawn(Kind kind, Account& account, std::function<void()> body) {
  State& s = *state_;
  invariant(s.fibers.size() < s.fibers_max, "there are more than fibers_max fibers");
  auto fiber = std::make_unique<Fiber>(s, s.stacks.take(), &State::begin);
  fiber->body = std::move(body);
  fiber->account = &account;
  fiber->kind = kind;
  if (kind == Kind::user) ++s.users;
  if (s.schedule != nullptr) fiber->priority = s.schedule->first_priority();
  s.make_runnable(*fiber);
  s.fibers.push_back(std::move(fiber));
}

void Executor::run() {
  State& s = *state_;
  invariant(s.current == nullptr, "run() was called from a fiber");
  s.limit = model::kNever;
  s.user_ran_at = s.clock.now();
  while (s.users > 0) {
    if (s.first == nullptr) {
      s.let_time_pass(model::kNever);
    } else {
      s.run_runnable();
      s.let_time_pass(s.clock.now());
    }
  }
}

void Executor::run_until(TimeNs until) {
  State& s = *state_;
  invariant(s.current == nullptr, "run_until() was called from a fiber");
  s.limit = until;
  for (;;) {
    if (s.first != nullptr)
      s.run_runnable();
    else if (s.clock.now() >= until)
      return;
    s.let_time_pass(s.first == nullptr ? until : s.clock.now());
  }
}

void Executor::run_until(const std::function<bool()>& done) {
  State& s = *state_;
  invariant(s.current == nullptr, "run_until() was called from a fiber");
  s.limit = 0;  // makes each sleep return to this loop, which checks `done`
  while (!done()) {
    if (s.first == nullptr) {
      s.let_time_pass(model::kNever);
    } else {
      s.run_runnable();
      s.let_time_pass(s.clock.now());
    }
  }
}

void Executor::halt() {
  State& s = *state_;
  invariant(s.current == nullptr, "halt() was called from a fiber");
  s.halted = true;
  s.limit = model::kNever;
  s.user_ran_at = s.clock.now();
  s.wake_sleepers();
  while (!s.fibers.empty()) {
    if (s.first == nullptr)
      s.let_time_pass(model::kNever);
    else
      s.run_runnable();
  }
}

bool Executor::halted() const {
  return state_->halted;
}

TimeNs Executor::now() const {
  return state_->clock.now();
}

Account& Executor::account() {
  invariant(state_->current != nullptr, "account() was called outside of a fiber");
  return *state_->current->account;
}

Fiber* Executor::current() const {
  return state_->current;
}

void Executor::on_stop(StopListener* listener) {
  state_->listener = listener;
}

void Executor::yield() {
  invariant(state_->current != nullptr, "only a fiber can yield");
  state_->stopping();
  Fiber& self = *state_->current;
  if (schedule_ != nullptr) self.priority = schedule_->after_yield(self.priority);
  state_->make_runnable(self);
  state_->stop_current();
}

void Executor::switch_if_scheduled() {
  state_->possible_switch();
}

void Executor::sleep_until(TimeNs at) {
  invariant(state_->current != nullptr, "only a fiber can sleep");
  state_->sleep(at);
}

void WaitQueue::wait() {
  Executor::State& s = *executor_.state_;
  invariant(s.current != nullptr, "a handler must not wait");
  s.stopping();
  insert_by_priority(*s.current, first_, last_);
  s.stop_current();
}

void WaitQueue::wake_one() {
  if (first_ == nullptr) return;
  Fiber& fiber = *first_;
  first_ = fiber.next;
  executor_.state_->make_runnable(fiber);
}

void WaitQueue::wake_all() {
  while (first_ != nullptr) wake_one();
}

void FiberLock::lock() {
  waiters_.executor_.possible_switch();
  Fiber* const fiber = waiters_.executor_.current();
  if (locked_) {
    invariant(fiber != nullptr, "a handler must not wait");
    fiber->awaited = this;
    waiters_.wait();  // unlock() makes this fiber the holder, and then wakes it
    return;
  }
  (void)try_lock();
}

bool FiberLock::try_lock() {
  if (locked_) return false;
  locked_ = true;
  holder_ = waiters_.executor_.current();
  return true;
}

void FiberLock::unlock() {
  invariant(locked_, "a lock must be held when it is released");
  holder_ = waiters_.first_;
  if (holder_ == nullptr) {
    locked_ = false;
  } else {
    holder_->awaited = nullptr;
    waiters_.wake_one();
  }
}

bool FiberLock::would_deadlock() const {
  const Fiber* const fiber = waiters_.executor_.current();
  const FiberLock* lock = this;
  while (lock != nullptr && lock->holder_ != nullptr) {
    if (lock->holder_ == fiber) return true;
    lock = lock->holder_->awaited;
  }
  return false;
}

}  // namespace headcrash::os
