#include "plugin/model/array/array_runner.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::model {
namespace {

constexpr unsigned kRunnerTagBits = 1;
constexpr unsigned kSleeperBits = 24;

}  // namespace

void ArrayRunner::schedule(TimeNs at, Tag tag, std::uint64_t value) {
  simulation_.schedule(at, *this, value << kRunnerTagBits | static_cast<std::uint64_t>(tag));
}

void ArrayRunner::wake_at(TimeNs at, std::coroutine_handle<> waiter) {
  if (free_sleepers_.empty()) {
    invariant(sleepers_.size() < (1U << kSleeperBits),
              "the number of sleeping coroutines must not exceed its limit");
    free_sleepers_.push_back(static_cast<std::uint32_t>(sleepers_.size()));
    sleepers_.emplace_back();
  }
  const std::uint32_t index = free_sleepers_.back();
  free_sleepers_.pop_back();
  Sleeper& sleeper = sleepers_[index];
  sleeper.waiter = waiter;
  schedule(at, Tag::wake, std::uint64_t{sleeper.turn} << kSleeperBits | index);
}

ArrayRunner::Sleep ArrayRunner::work(TimeNs ns) {
  free_at_ = std::max(simulation_.now(), free_at_) + ns;
  return until(free_at_);
}

void ArrayRunner::wake_all(Waiters& list) {
  for (const auto waiter : list) make_ready(waiter);
  list.clear();
}

void ArrayRunner::Join::arrive(Status s, const Breakdown& b) {
  invariant(running > 0, "array: a coroutine must not arrive twice at a join");
  if (s != Status::ok) status = s;
  breakdown = b;
  if (--running > 0 || !waiter) return;
  runner.make_ready(waiter);
  waiter = nullptr;
}

void ArrayRunner::run() {
  if (running_) return;
  running_ = true;
  while (has_ready() || finished_.any_finished()) {
    run_ready();
    if (finished_.any_finished()) finished_.deliver_finished();
  }
  running_ = false;
}

void ArrayRunner::drain_later() {
  if (running_ || drain_scheduled_ || (!has_ready() && !finished_.any_finished())) return;
  drain_scheduled_ = true;
  schedule(simulation_.now(), Tag::drain);
}

void ArrayRunner::on_event(std::uint64_t tag) {
  if (static_cast<Tag>(tag & ((1U << kRunnerTagBits) - 1)) == Tag::drain) {
    drain_scheduled_ = false;
  } else {
    const std::uint64_t value = tag >> kRunnerTagBits;
    const auto index = static_cast<std::uint32_t>(value & ((1U << kSleeperBits) - 1));
    Sleeper& sleeper = sleepers_[index];
    if (sleeper.turn != static_cast<std::uint32_t>(value >> kSleeperBits)) return;
    make_ready(sleeper.waiter);
    ++sleeper.turn;
    free_sleepers_.push_back(index);
  }
  run();
}

void ArrayRunner::power_cut() {
  cancel_all();
  free_sleepers_.clear();
  for (std::uint32_t i = 0; i < sleepers_.size(); ++i) {
    ++sleepers_[i].turn;
    sleepers_[i].waiter = nullptr;
    free_sleepers_.push_back(i);
  }
  free_at_ = 0;
}

}  // namespace headcrash::model
