// The syncer daemon (syncer.h).
//
//   tick: due work items in FIFO order -> writes according to the policy -> sleep
#include "fs-adapters/substrate/os/syncer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "plugin/base/invariant.h"

namespace headcrash::os {

namespace {

std::uint64_t bytes_of(const std::vector<BufferCache::Dirty>& all) {
  std::uint64_t bytes = 0;
  for (const BufferCache::Dirty& dirty : all) bytes += dirty.bytes;
  return bytes;
}

TimeNs later_by(TimeNs at, TimeNs delay) {
  return delay >= model::kNever - at ? model::kNever : at + delay;
}

}  // namespace

struct Syncer::State {
  State(Executor& fibers, BufferCache& buffers, const SyncerOptions& how)
      : executor(fibers), cache(buffers), options(how) {}

  void run();
  void do_due(TimeNs until);
  void write_behind();
  void write_older_than(TimeNs age, const std::vector<BufferCache::Dirty>& all);
  TimeNs age() const;

  using Work = std::function<void()>;
  Executor& executor;
  BufferCache& cache;
  SyncerOptions options;
  Account account{.name = "syncer"};
  /// Number of items queued so far. Items run in the order of their numbers.
  std::uint64_t asked = 0;
  std::map<std::uint64_t, Work> due;
  std::multimap<TimeNs, std::pair<std::uint64_t, Work>> later;
  std::size_t under_way = 0;
  WaitQueue nothing_under_way{executor};
  std::size_t part = 0;
  TimeNs written_at = 0;
};

/// Runs the items that are due by `until`, except any that are queued by an item while it runs.
void Syncer::State::do_due(TimeNs until) {
  const std::uint64_t last = asked;
  while (!later.empty() && later.begin()->first <= until) {
    due.insert(std::move(later.begin()->second));
    later.erase(later.begin());
  }
  while (!due.empty() && due.begin()->first <= last) {
    const Work work = std::move(due.begin()->second);
    due.erase(due.begin());
    ++under_way;
    work();
    if (--under_way == 0) nothing_under_way.wake_all();
  }
}

void Syncer::State::write_behind() {
  const TimeNs now = executor.now();
  switch (options.policy) {
    case SyncerOptions::Policy::none:
      break;
    case SyncerOptions::Policy::sweep:
      cache.sweep(part, options.parts);
      part = (part + 1) % options.parts;
      break;
    case SyncerOptions::Policy::periodic:
      if (now - written_at < options.interval_ns) break;
      written_at = now;
      for (const BufferCache::Dirty& dirty : cache.dirty()) cache.write_behind(dirty.key);
      break;
    case SyncerOptions::Policy::interval:
      write_older_than(options.interval_ns, cache.dirty());
      break;
    case SyncerOptions::Policy::burst: {
      const auto all = cache.dirty();
      write_older_than(burst_age_ns(options, bytes_of(all)), all);
      break;
    }
    case SyncerOptions::Policy::write_through:  // retries writes that failed or that a hook vetoed
      write_older_than(0, cache.dirty());
      break;
  }
}

/// Returns the age at which the policy writes data; kNever if the policy does not depend on age.
TimeNs Syncer::State::age() const {
  switch (options.policy) {
    case SyncerOptions::Policy::interval:
      return options.interval_ns;
    case SyncerOptions::Policy::burst:
      return burst_age_ns(options, bytes_of(cache.dirty()));
    case SyncerOptions::Policy::write_through:
      return 0;
    default:
      return model::kNever;
  }
}

/// Writes data of at least this age. Writes metadata regardless of age, unless
/// SyncerOptions::metadata_waits is set. Blocks whose write has failed wait for retry_ns first.
void Syncer::State::write_older_than(TimeNs age, const std::vector<BufferCache::Dirty>& all) {
  const TimeNs now = executor.now();
  const auto since = options.age == SyncerOptions::Age::since_last_change
                         ? &BufferCache::Dirty::modified_at
                         : &BufferCache::Dirty::dirtied_at;
  const bool waits = options.metadata_waits;
  for (const BufferCache::Dirty& dirty : all) {
    if (dirty.failed_at && now - *dirty.failed_at < options.retry_ns) continue;
    if ((dirty.content == Content::metadata && !waits) || now - dirty.*since >= age)
      cache.write_behind(dirty.key);
  }
}

void Syncer::State::run() {
  TimeNs tick = executor.now();
  written_at = tick;
  for (;;) {
    tick = std::max(tick + options.tick_ns, executor.now());
    executor.sleep_until(tick);
    if (executor.halted()) return;
    do_due(executor.now());
    write_behind();
  }
}

TimeNs burst_age_ns(const SyncerOptions& options, std::uint64_t dirty_bytes) {
  const double drain_s =
      static_cast<double>(dirty_bytes) / static_cast<double>(options.drain_bytes_per_s);
  const double drain_ns = drain_s * static_cast<double>(model::kSecondNs);
  if (drain_ns >= static_cast<double>(options.interval_ns)) return 0;
  return options.interval_ns - static_cast<TimeNs>(drain_ns);
}

Syncer::Syncer(Executor& executor, BufferCache& cache, const SyncerOptions& options)
    : state_(std::make_unique<State>(executor, cache, options)) {
  invariant(options.parts > 0 && options.tick_ns > 0, "parts and tick_ns must both be positive");
  invariant(options.interval_ns >= 0 && options.retry_ns >= 0,
            "interval_ns or retry_ns is negative");
  invariant(options.policy != SyncerOptions::Policy::burst || options.drain_bytes_per_s > 0,
            "the burst policy needs drain_bytes_per_s");
}

Syncer::~Syncer() = default;

void Syncer::start() {
  state_->executor.spawn(Executor::Kind::daemon, state_->account, [this] { state_->run(); });
}

void Syncer::add_work(std::function<void()> work, TimeNs not_before) {
  State& s = *state_;
  invariant(work_waiting() < s.options.work_max, "more than work_max items are deferred");
  const std::uint64_t number = ++s.asked;
  if (not_before <= s.executor.now())
    s.due.emplace(number, std::move(work));
  else
    s.later.emplace(not_before, std::pair(number, std::move(work)));
}

void Syncer::do_work(Extent extent) {
  state_->do_due(extent == Extent::everything ? model::kNever : state_->executor.now());
}

std::size_t Syncer::work_waiting() const {
  return state_->due.size() + state_->later.size() + state_->under_way;
}

bool Syncer::wait_for_work_under_way() {
  if (state_->under_way == 0) return false;
  while (state_->under_way > 0) state_->nothing_under_way.wait();
  return true;
}

void Syncer::forget_work() {
  // The loop is necessary because the destruction of an item may queue more work.
  while (!state_->due.empty() || !state_->later.empty()) {
    const auto due = std::exchange(state_->due, {});
    const auto later = std::exchange(state_->later, {});
  }
}

TimeNs Syncer::due_at(Content content, TimeNs usual_ns) const {
  const State& s = *state_;
  const TimeNs now = s.executor.now();
  if (s.options.policy == SyncerOptions::Policy::sweep || s.options.own_times)
    return now + usual_ns;
  if (s.options.policy == SyncerOptions::Policy::periodic)
    return later_by(s.written_at, s.options.interval_ns);
  if (s.options.policy == SyncerOptions::Policy::none) return model::kNever;
  return content == Content::metadata ? now : later_by(now, s.age());
}

TimeNs Syncer::due_since(TimeNs usual_ns) const {
  const State& s = *state_;
  const TimeNs now = s.executor.now();
  if (s.options.policy == SyncerOptions::Policy::sweep || s.options.own_times)
    return now - usual_ns;
  if (s.options.policy == SyncerOptions::Policy::periodic)
    return now - s.written_at >= s.options.interval_ns ? now : -1;
  const TimeNs age = s.age();
  return age > now ? -1 : now - age;
}

bool Syncer::writes_through() const {
  return state_->options.policy == SyncerOptions::Policy::write_through;
}

Account& Syncer::account() {
  return state_->account;
}

}  // namespace headcrash::os
