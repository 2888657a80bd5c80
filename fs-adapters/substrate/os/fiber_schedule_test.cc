// Tests scheduled fibers (fiber_schedule.h): equal seeds give equal runs, priorities determine the
// order, and the enumerator runs every interleaving within its limit.
#include "fs-adapters/substrate/os/fiber_schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fs-adapters/substrate/os/executor.h"

namespace headcrash::os {
namespace {

using Kind = Executor::Kind;

/// A machine with several users. Each user logs a letter, reaches a possible switch, and repeats
/// this.
struct ScheduledWorld {
  explicit ScheduledWorld(const ExecutorOptions& options) : executor(clock, options) {}

  model::Simulation simulation;
  VirtualClock clock{simulation};
  Executor executor;
  Account account{.name = "ann"};
  std::string log;

  void spawn(char name, int steps) {
    executor.spawn(Kind::user, account, [this, name, steps] {
      for (int i = 0; i < steps; ++i) {
        log += name;
        executor.possible_switch();
      }
    });
  }
};

std::string run_with_seed(std::uint64_t seed, std::uint32_t changes = 3) {
  ScheduledWorld w({.schedule = {.seed = seed, .changes = changes}});
  for (const char name : {'a', 'b', 'c'}) w.spawn(name, 12);
  w.executor.run();
  return w.log;
}

TEST(FiberSchedule, FibersDoNotSwitchWithoutASchedule) {
  EXPECT_EQ(run_with_seed(0), std::string(12, 'a') + std::string(12, 'b') + std::string(12, 'c'));
}

TEST(FiberSchedule, EachSeedGivesADifferentButRepeatableOrder) {
  std::set<std::string> different;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_EQ(run_with_seed(seed), run_with_seed(seed)) << seed;
    different.insert(run_with_seed(seed));
  }
  EXPECT_GT(different.size(), 50U);
}

TEST(FiberSchedule, WithoutChangesTheFiberOfHighestPriorityRunsToItsEnd) {
  std::set<std::string> different;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string log = run_with_seed(seed, 0);
    different.insert(log);
    for (const std::size_t at : {0, 12, 24})
      EXPECT_EQ(log.substr(at, 12), std::string(12, log[at]));
  }
  EXPECT_EQ(different.size(), 6U) << "all orders of three users";
}

TEST(FiberSchedule, OmitsSelectedPriorityChanges) {
  const RandomPriorities whole({.seed = 7, .changes = 5});
  const RandomPriorities part({.seed = 7, .changes = 5, .omitted = 0b01010});
  ASSERT_EQ(whole.changes().size(), 5U);
  ASSERT_EQ(part.changes().size(), 3U);
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(part.changes()[i].at, whole.changes()[2 * i].at);
  EXPECT_NE(format({.seed = 7, .changes = 5}), format({.seed = 7, .changes = 5, .omitted = 1}));
}

TEST(FiberSchedule, WakesWaitersByPriority) {
  std::set<std::string> different;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ScheduledWorld w({.schedule = {.seed = seed, .changes = 0}});
    FiberLock lock(w.executor);
    lock.lock();
    for (const char name : {'a', 'b', 'c'})
      w.executor.spawn(Kind::user, w.account, [&w, &lock, name] {
        lock.lock();
        w.log += name;
        lock.unlock();
      });
    w.executor.spawn(Kind::user, w.account, [&w, &lock] {
      w.executor.sleep_until(1);
      lock.unlock();
    });
    w.executor.run();
    different.insert(w.log);
  }
  EXPECT_EQ(different.size(), 6U);
}

TEST(FiberSchedule, AHeldFiberLetsOthersRunForAWhile) {
  std::size_t interrupted = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ScheduledWorld w({.schedule = {.seed = seed, .changes = 6}});
    w.spawn('a', 20);
    w.executor.spawn(Kind::user, w.account, [&w] {
      w.executor.sleep_until(1'000'000);
      w.log += 'b';
    });
    w.executor.run();
    if (w.log.back() == 'a') ++interrupted;
  }
  EXPECT_GT(interrupted, 20U);
}

TEST(FiberSchedule, AYieldingFiberLetsAllOthersRun) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ScheduledWorld w({.schedule = {.seed = seed}});
    bool done = false;
    w.executor.spawn(Kind::user, w.account, [&] {
      while (!done) w.executor.yield();
    });
    w.executor.spawn(Kind::user, w.account, [&] { done = true; });
    w.executor.run();
  }
}

std::multiset<std::string> enumerated(std::size_t deviations, int steps) {
  std::multiset<std::string> logs;
  ScheduleEnumerator schedule(deviations);
  do {
    ScheduledWorld w({.own_schedule = &schedule});
    w.spawn('a', steps);
    w.spawn('b', steps);
    w.executor.run();
    logs.insert(w.log);
  } while (schedule.next());
  return logs;
}

TEST(ScheduleEnumerator, RunsEveryInterleavingOfTwoUsers) {
  const auto logs = enumerated(100, 3);
  const std::set<std::string> different(logs.begin(), logs.end());
  EXPECT_EQ(different.size(), 20U) << "6 over 3";
}

TEST(ScheduleEnumerator, LimitsTheNumberOfDeviationsFromFifo) {
  EXPECT_EQ(enumerated(0, 3).size(), 1U);
  const auto one = enumerated(1, 3);
  EXPECT_GT(one.size(), 3U);
  EXPECT_LT(one.size(), enumerated(2, 3).size());
  EXPECT_TRUE(one.contains("aaabbb"));
}

TEST(ScheduleEnumerator, NamesSchedulesByTheirDeviations) {
  ScheduleEnumerator schedule(1);
  EXPECT_EQ(schedule.name(), "FIFO");
  EXPECT_EQ(schedule.choose(2), 0U);
  EXPECT_EQ(schedule.choose(3), 0U);
  ASSERT_TRUE(schedule.next());
  EXPECT_EQ(schedule.name(), "1:1");
}

}  // namespace
}  // namespace headcrash::os
