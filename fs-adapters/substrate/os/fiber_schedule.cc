// Implements random and enumerated schedules (fiber_schedule.h).
#include "fs-adapters/substrate/os/fiber_schedule.h"

#include <algorithm>

#include "plugin/base/invariant.h"

namespace headcrash::os {
namespace {

/// First, n is drawn from the numbers below this constant. Then the number of change points is
/// drawn from 1 to 2^n. Short histories need few change points, and long histories need many.
constexpr std::uint64_t kChangesBits = 7;
/// For each change point, first n is drawn from this range. Then the change point is drawn from the
/// first 2^n possible switches. Runs differ in length, so all orders of magnitude are equally
/// likely.
constexpr std::uint64_t kBitsLeast = 4, kBitsMost = 12;
/// First, an upper limit is drawn: a power of 2 in nanoseconds, at least 2^21 (about 2 ms). The
/// hold time is then drawn below this limit. At one change point in three, the fiber is not held.
constexpr std::uint64_t kHoldBitsLeast = 20;
constexpr std::uint64_t kHoldsNothingOneIn = 3;
constexpr std::size_t kOmittedMost = 64;  // number of bits in FiberScheduleOptions::omitted

TimeNs draw_hold(Random& random, TimeNs most) {
  if (random.below(kHoldsNothingOneIn) == 0 || most <= 0) return 0;
  std::uint64_t bits = kHoldBitsLeast;
  while ((TimeNs{1} << bits) < most) ++bits;
  const std::uint64_t range = 1 + random.below(bits - kHoldBitsLeast + 1);
  const auto hold = static_cast<TimeNs>(random.below(std::uint64_t{1} << (kHoldBitsLeast + range)));
  return std::min(hold, most);
}

}  // namespace

RandomPriorities::RandomPriorities(const FiberScheduleOptions& options) : random_(options.seed) {
  const std::uint64_t drawn = 1 + random_.below(std::uint64_t{1} << random_.below(kChangesBits));
  const std::uint64_t count = options.changes.value_or(static_cast<std::uint32_t>(drawn));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = kBitsLeast + random_.below(kBitsMost - kBitsLeast + 1);
    const std::uint64_t at = 1 + random_.below(std::uint64_t{1} << bits);
    changes_.push_back({.at = at, .hold_ns = draw_hold(random_, options.hold_ns_max)});
  }
  std::ranges::stable_sort(changes_, {}, &Change::at);
  for (std::size_t i = std::min(kOmittedMost, changes_.size()); i-- > 0;)
    if ((options.omitted >> i & 1U) != 0)
      changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(i));
}

std::int64_t RandomPriorities::first_priority() {
  return static_cast<std::int64_t>(1 + (random_.next() >> 2U));
}

FiberSchedule::Step RandomPriorities::step(std::int64_t priority) {
  Step step{.priority = priority};
  ++steps_;
  for (; passed_ < changes_.size() && changes_[passed_].at == steps_; ++passed_)
    step = {.priority = --lowest_, .hold_ns = changes_[passed_].hold_ns};
  return step;
}

std::int64_t RandomPriorities::after_yield(std::int64_t) {
  return --lowest_;
}

std::string format(const FiberScheduleOptions& options) {
  if (options.seed == 0) return "FIFO";
  std::string text = "schedule " + std::to_string(options.seed) + ": changes at";
  const RandomPriorities schedule(options);
  const char* separator = " ";
  for (const RandomPriorities::Change& change : schedule.changes()) {
    text += separator + std::to_string(change.at);
    separator = ", ";
  }
  return text;
}

std::unique_ptr<FiberSchedule> make_schedule(const FiberScheduleOptions& options) {
  if (options.seed == 0) return nullptr;
  return std::make_unique<RandomPriorities>(options);
}

std::size_t ScheduleEnumerator::choose(std::size_t count) {
  if (at_ == choices_.size()) choices_.push_back({.count = count});
  const Choice& choice = choices_[at_++];
  invariant(choice.count == count, "a repeated schedule must offer the same choices");
  return choice.chosen;
}

std::size_t ScheduleEnumerator::deviations_before(std::size_t end) const {
  return static_cast<std::size_t>(
      std::count_if(choices_.begin(), choices_.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const Choice& choice) { return choice.chosen != 0; }));
}

bool ScheduleEnumerator::next() {
  choices_.resize(std::min(choices_.size(), at_));
  at_ = 0;
  for (; !choices_.empty(); choices_.pop_back()) {
    Choice& last = choices_.back();
    if (last.chosen + 1 == last.count) continue;
    if (deviations_before(choices_.size() - 1) + 1 > deviations_max_) continue;
    ++last.chosen;
    return true;
  }
  return false;
}

std::string ScheduleEnumerator::name() const {
  std::string text;
  for (std::size_t i = 0; i < choices_.size(); ++i)
    if (choices_[i].chosen != 0)
      text +=
          (text.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(choices_[i].chosen);
  return text.empty() ? "FIFO" : text;
}

}  // namespace headcrash::os
