#pragma once
// The order in which runnable fibers run, chosen by a seed or an enumeration.
//
// Without a schedule, fibers run in FIFO order and stop only when they wait (executor.h). With a
// schedule, each fiber has a priority, and the runnable fiber with the highest priority runs. A
// fiber may also be stopped at a possible switch: where it takes a lock or is charged for processor
// time (at each system call, cache lookup and disk request). Fibers that wait for the same event
// are also woken by priority.
//
// RandomPriorities is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010).
// Priorities are random, and at d change points the running fiber gets the lowest priority. A
// defect that needs d ordered events is found with a known probability. In our systems, most fibers
// wait for the disk, so a fiber with a low priority soon runs again. At a change point a fiber is
// therefore also held for some model time.
//
// ScheduleEnumerator runs all schedules in which at most a given number of choices differ from FIFO
// order (as CHESS does: Musuvathi and Qadeer, PLDI 2007).
//
// The same schedule and the same inputs give the same run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/clock.h"
#include "plugin/base/random.h"

namespace headcrash::os {

/// Decides which fiber an executor runs next. A schedule must outlive the executor that calls it,
/// and must be used for one run only.
class FiberSchedule {
 public:
  /// The effect of a possible switch on the running fiber.
  struct Step {
    std::int64_t priority = 0;
    TimeNs hold_ns = 0;  ///< time for which the fiber sleeps
  };
  virtual ~FiberSchedule() = default;

  /// Returns the initial priority of a new fiber.
  virtual std::int64_t first_priority() { return 0; }
  /// Called at each possible switch with the priority of the running fiber.
  virtual Step step(std::int64_t priority) { return {.priority = priority}; }
  /// Returns the new priority of a fiber that yields; `priority` is its current one.
  virtual std::int64_t after_yield(std::int64_t priority) { return priority; }
  /// Returns the index of the fiber to run next among the `count` fibers that share the highest
  /// priority; `count` is at least two. At a possible switch, index 0 is the running fiber;
  /// otherwise, it is the fiber that has been runnable longest.
  virtual std::size_t choose(std::size_t count) { return (void)count, 0; }
};

/// A machine's scheduling options. With seed 0, fibers run in FIFO order, and possible switches
/// have no effect.
struct FiberScheduleOptions {
  std::uint64_t seed = 0;
  /// Number of change points. If nullopt, a number from 1 to 64 is drawn from the seed.
  std::optional<std::uint32_t> changes = {};
  /// Maximum time for which a fiber is held at a change point.
  TimeNs hold_ns_max = 4 * model::kSecondNs;
  /// If bit n is set, change point n is omitted. Covers the first 64 change points. Used to
  /// minimise a failing schedule.
  std::uint64_t omitted = 0;
};

/// Returns text such as "schedule 7: changes at 12, 340", for failure messages.
std::string format(const FiberScheduleOptions& options);

/// Returns null for seed 0.
std::unique_ptr<FiberSchedule> make_schedule(const FiberScheduleOptions& options);

class RandomPriorities final : public FiberSchedule {
 public:
  explicit RandomPriorities(const FiberScheduleOptions& options);

  std::int64_t first_priority() override;
  Step step(std::int64_t priority) override;
  std::int64_t after_yield(std::int64_t priority) override;

  /// A change point. At this point, the running fiber gets the lowest priority and is held for
  /// `hold_ns`.
  struct Change {
    std::uint64_t at = 0;  ///< number of the possible switch, counted from 1
    TimeNs hold_ns = 0;
  };
  const std::vector<Change>& changes() const { return changes_; }

 private:
  Random random_;
  std::vector<Change> changes_;  ///< by time
  std::size_t passed_ = 0;       ///< number of change points passed
  std::uint64_t steps_ = 0;
  std::int64_t lowest_ = 0;  ///< lowest priority given so far
};

class ScheduleEnumerator final : public FiberSchedule {
 public:
  /// In each schedule, at most `deviations_max` choices are not 0. A choice of 0 keeps FIFO order.
  explicit ScheduleEnumerator(std::size_t deviations_max) : deviations_max_(deviations_max) {}

  /// Prepares the next schedule. Must be called after each run. Returns false if all schedules have
  /// been run.
  bool next();
  std::size_t choose(std::size_t count) override;
  /// Returns the current schedule's deviations as text, such as "12:1 40:2", or "FIFO".
  std::string name() const;

 private:
  struct Choice {
    std::size_t count = 0, chosen = 0;
  };
  std::size_t deviations_before(std::size_t end) const;

  std::size_t deviations_max_;
  std::vector<Choice> choices_;
  std::size_t at_ = 0;  ///< number of choices made so far in the current run
};

}  // namespace headcrash::os
