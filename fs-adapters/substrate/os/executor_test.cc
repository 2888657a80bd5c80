// Tests fibers and clocks (executor.h, clock.h).
#include "fs-adapters/substrate/os/executor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"
#include "plugin/base/random.h"

namespace headcrash::os {
namespace {

using bench::Calls;
using Kind = Executor::Kind;
using model::kMillisecondNs;
using model::kNever;
using model::kSecondNs;

struct FiberWorld {
  model::Simulation simulation;
  VirtualClock clock{simulation};
  Executor executor{clock};
  Account account{.name = "ann"};
  std::vector<std::string> log;

  void say(const std::string& what) { log.push_back(std::to_string(executor.now()) + " " + what); }
};

TEST(Executor, FibersRunInTheOrderTheyBecameRunnable) {
  FiberWorld w;
  for (const char* name : {"a", "b", "c"}) {
    w.executor.spawn(Kind::user, w.account, [&w, name] {
      for (int i = 0; i < 2; ++i) {
        w.say(name);
        w.executor.yield();
      }
    });
  }
  w.executor.run();
  EXPECT_EQ(w.log, (std::vector<std::string>{"0 a", "0 b", "0 c", "0 a", "0 b", "0 c"}));
}

TEST(Executor, SleepersWakeByTimeThenBySleepOrder) {
  FiberWorld w;
  const std::array<TimeNs, 4> times = {30, 10, 20, 10};
  for (std::size_t i = 0; i < times.size(); ++i) {
    w.executor.spawn(Kind::user, w.account, [&w, i, at = times[i]] {
      w.executor.sleep_until(at);
      w.say(std::to_string(i));
    });
  }
  w.executor.run();
  EXPECT_EQ(w.log, (std::vector<std::string>{"10 1", "10 3", "20 2", "30 0"}));
}

TEST(Executor, HardwareEventsRunOnTimeDuringASleep) {
  FiberWorld w;
  Calls event([&w] {
    EXPECT_EQ(w.executor.current(), nullptr);
    w.say("event");
  });
  w.simulation.schedule(5, event, 0);
  w.executor.spawn(Kind::user, w.account, [&w] {
    w.executor.sleep_until(3);
    w.say("early");
    w.executor.sleep_until(9);
    w.say("late");
  });
  w.executor.run();
  EXPECT_EQ(w.log, (std::vector<std::string>{"3 early", "5 event", "9 late"}));
}

TEST(Executor, RunEndsWithTheLastUserButRunUntilRunsDaemonsToo) {
  FiberWorld w;
  w.executor.spawn(Kind::daemon, w.account, [&w] {
    while (!w.executor.halted()) {
      w.say("tick");
      w.executor.sleep_until(w.executor.now() + 10);
    }
    w.say("end");
  });
  w.executor.spawn(Kind::user, w.account, [&w] { w.executor.sleep_until(15); });
  w.executor.run();
  EXPECT_EQ(w.executor.now(), 15);
  w.executor.run_until(29);
  EXPECT_EQ(w.executor.now(), 29);
  w.executor.halt();
  EXPECT_EQ(w.log, (std::vector<std::string>{"0 tick", "10 tick", "20 tick", "29 end"}));
}

TEST(Executor, HaltUnwindsEveryFiber) {
  FiberWorld w;
  int destroyed = 0;
  struct Counted {
    int& count;
    ~Counted() { ++count; }
  };
  WaitQueue queue(w.executor);
  w.executor.spawn(Kind::daemon, w.account, [&] {
    const Counted counted{destroyed};
    w.executor.sleep_until(kNever - 1);
    queue.wake_all();
  });
  w.executor.spawn(Kind::user, w.account, [&] {
    const Counted counted{destroyed};
    queue.wait();
  });
  w.executor.run_until(100);
  EXPECT_EQ(destroyed, 0);
  w.executor.halt();
  EXPECT_EQ(destroyed, 2);
}

TEST(Executor, WaitersAreWokenInOrder) {
  FiberWorld w;
  WaitQueue queue(w.executor);
  for (const char* name : {"a", "b", "c"}) {
    w.executor.spawn(Kind::user, w.account, [&w, &queue, name] {
      queue.wait();
      w.say(name);
    });
  }
  w.executor.spawn(Kind::user, w.account, [&] {
    queue.wake_one();
    w.executor.sleep_until(7);
    queue.wake_all();
    EXPECT_TRUE(queue.empty());
  });
  w.executor.run();
  EXPECT_EQ(w.log, (std::vector<std::string>{"0 a", "7 b", "7 c"}));
}

TEST(Executor, ALockPassesToWaitersInOrder) {
  FiberWorld w;
  FiberLock lock(w.executor);
  for (const char* name : {"a", "b", "c"}) {
    w.executor.spawn(Kind::user, w.account, [&w, &lock, name] {
      for (int i = 0; i < 2; ++i) {
        lock.lock();
        w.say(name);
        w.executor.sleep_until(w.executor.now() + 1);
        lock.unlock();
      }
    });
  }
  w.executor.run();
  EXPECT_EQ(w.log, (std::vector<std::string>{"0 a", "1 b", "2 c", "3 a", "4 b", "5 c"}));
  EXPECT_FALSE(lock.locked());
}

TEST(FiberLock, ReportsADeadlockThroughAChainOfHolders) {
  FiberWorld w;
  FiberLock first(w.executor), second(w.executor), third(w.executor);
  w.executor.spawn(Kind::user, w.account, [&] {
    first.lock();
    w.executor.sleep_until(2);
    // Waiting for `third` would be a deadlock: its holder waits for `second`, and the holder of
    // `second` waits for `first`, which this fiber holds.
    EXPECT_TRUE(third.would_deadlock());
    EXPECT_TRUE(first.would_deadlock());
    first.unlock();
    EXPECT_FALSE(third.would_deadlock()) << "its holder runs soon";
    third.lock();
    third.unlock();
  });
  w.executor.spawn(Kind::user, w.account, [&] {
    second.lock();
    EXPECT_FALSE(first.would_deadlock());
    first.lock();
    first.unlock();
    second.unlock();
  });
  w.executor.spawn(Kind::user, w.account, [&] {
    third.lock();
    second.lock();
    second.unlock();
    third.unlock();
  });
  w.executor.run();
  EXPECT_FALSE(first.locked() || second.locked() || third.locked());
}

TEST(Executor, StacksAreReusedAndDeepRecursionFits) {
  FiberWorld w;
  std::uint64_t sum = 0;
  for (int i = 0; i < 500; ++i) {
    w.executor.spawn(Kind::user, w.account, [&w, &sum] {
      std::array<volatile char, 100'000> deep;
      deep[0] = 1;
      w.executor.yield();
      deep[99'999] = 2;
      sum += static_cast<std::uint64_t>(deep[0] + deep[99'999]);
    });
    if (i % 50 == 49) w.executor.run();
  }
  EXPECT_EQ(sum, 1500U);
}

TEST(Executor, TheListenerIsCalledEachTimeAFiberStops) {
  FiberWorld w;
  struct Listener : Executor::StopListener {
    void stopped(Fiber&) override { ++stops; }
    int stops = 0;
  } listener;
  w.executor.on_stop(&listener);
  w.executor.spawn(Kind::user, w.account, [&] {
    w.executor.sleep_until(5);  // stops the fiber for the first time
    w.executor.sleep_until(2);  // already passed
    w.executor.yield();         // stops the fiber again; the end of the fiber is the third stop
  });
  w.executor.run();
  EXPECT_EQ(listener.stops, 3);
}

/// Runs many fibers that perform random actions; returns the actions in the order in which they
/// were performed.
std::vector<std::string> random_fibers(std::uint64_t seed) {
  FiberWorld w;
  Random random(seed);
  WaitQueue queue(w.executor);
  FiberLock lock(w.executor);
  for (int f = 0; f < 20; ++f) {
    w.executor.spawn(Kind::user, w.account, [&, f] {
      for (int i = 0; i < 30; ++i) {
        w.say(std::to_string(f));
        switch (random.below(4)) {
          case 0:
            w.executor.yield();
            break;
          case 1:
            w.executor.sleep_until(w.executor.now() + static_cast<TimeNs>(random.below(50)));
            break;
          case 2:
            lock.lock();
            w.executor.sleep_until(w.executor.now() + static_cast<TimeNs>(random.below(3)));
            lock.unlock();
            break;
          default:
            queue.wake_all();
        }
        if (random.below(8) == 0) queue.wake_one();
      }
    });
  }
  w.executor.run();
  return w.log;
}

TEST(Executor, EqualSeedsGiveEqualRuns) {
  EXPECT_EQ(random_fibers(7), random_fibers(7));
  EXPECT_NE(random_fibers(7), random_fibers(8));
}

TEST(ExecutorDeathTest, ADeadlockNamesTheWaitingFibers) {
  EXPECT_DEATH(
      {
        FiberWorld w;
        WaitQueue queue(w.executor);
        w.executor.spawn(Kind::user, w.account, [&] { queue.wait(); });
        w.executor.run();
      },
      "no event is pending; waiting: ann \\(user\\)");
}

TEST(ExecutorDeathTest, DetectsUsersStuckWhileADaemonTicks) {
  EXPECT_DEATH(
      {
        FiberWorld w;
        WaitQueue queue(w.executor);
        Account syncer{.name = "syncer"};
        w.executor.spawn(Kind::user, w.account, [&] { queue.wait(); });
        w.executor.spawn(Kind::daemon, syncer, [&] {
          for (;;) w.executor.sleep_until(w.executor.now() + 100 * kSecondNs);
        });
        w.executor.run();
      },
      "no user .* 3 days .*; waiting: ann \\(user\\), syncer \\(daemon\\)");
}

TEST(ExecutorDeathTest, LimitsTheNumberOfFibers) {
  EXPECT_DEATH(
      {
        model::Simulation simulation;
        VirtualClock clock(simulation);
        Executor executor(clock, {.fibers_max = 2});
        Account account{.name = "ann"};
        for (int i = 0; i < 3; ++i) executor.spawn(Kind::user, account, [] {});
      },
      "more than fibers_max fibers");
}

TEST(ExecutorDeathTest, AHandlerThatWaitsIsDetected) {
  EXPECT_DEATH(
      {
        FiberWorld w;
        WaitQueue queue(w.executor);
        Calls event([&] { queue.wait(); });
        w.simulation.schedule(5, event, 0);
        w.executor.spawn(Kind::user, w.account, [&] { w.executor.sleep_until(9); });
        w.executor.run();
      },
      "a handler must not wait");
}

TEST(Executor, ASleepOfMonthsIsNotADeadlock) {
  FiberWorld w;
  w.executor.spawn(Kind::daemon, w.account, [&] {
    while (!w.executor.halted()) w.executor.sleep_until(w.executor.now() + 3600 * kSecondNs);
  });
  w.executor.spawn(Kind::user, w.account, [&] { w.executor.sleep_until(60 * 86400 * kSecondNs); });
  w.executor.run();
  w.executor.halt();
}

TEST(WallClock, TimePassesAndPostedEventsRun) {
  WallClock clock;
  Executor executor(clock);
  Account account{.name = "ann"};
  WaitQueue queue(executor);
  std::vector<std::string> log;
  std::thread other;
  executor.spawn(Kind::user, account, [&] {
    const TimeNs before = executor.now();
    executor.sleep_until(before + 2 * kMillisecondNs);
    EXPECT_GE(executor.now(), before + 2 * kMillisecondNs);
    other = std::thread([&] { clock.post([&] { queue.wake_all(); }); });
    queue.wait();
    log.emplace_back("woken");
  });
  executor.run();
  other.join();
  EXPECT_EQ(log, std::vector<std::string>{"woken"});
}

TEST(WallClock, BusyFibersDoNotDelayPostedEvents) {
  WallClock clock;
  Executor executor(clock);
  Account account{.name = "ann"};
  bool heard = false;
  std::thread other([&] { clock.post([&] { heard = true; }); });
  executor.spawn(Kind::user, account, [&] {
    while (!heard) executor.yield();
  });
  executor.run();
  other.join();
}

/// Returns the number of times that this thread has slept.
long times_slept() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST(WallClock, DoesNotSleepUntilAPastTime) {
  WallClock clock;
  int happened = 0;
  const long before = times_slept();
  for (int i = 0; i < 100; ++i) {
    clock.post([&] { ++happened; });
    EXPECT_TRUE(clock.pass_until(clock.now()));
    EXPECT_TRUE(clock.pass_until(clock.now()));
  }
  EXPECT_EQ(happened, 100);
  EXPECT_LT(times_slept() - before, 50) << "a wait for a past time takes the kernel's timer slack";
}

TEST(WallClock, CanStartAtTheEpoch) {
  WallClock calendar(WallClock::Origin::epoch);
  WallClock machine;
  constexpr TimeNs kYear2020 = 1'577'836'800 * model::kSecondNs;
  EXPECT_GT(calendar.now(), kYear2020);
  EXPECT_LT(machine.now(), calendar.now());
  const TimeNs until = calendar.now() + model::kMillisecondNs;
  EXPECT_TRUE(calendar.pass_until(until));
  EXPECT_GE(calendar.now(), until);
}

TEST(WallClock, RunsUntilAnExternalUserIsDone) {
  WallClock clock;
  Executor executor(clock);
  Account account{.name = "from outside"};
  Account ticking{.name = "daemon"};
  int ticks = 0, served = 0;
  executor.spawn(Executor::Kind::daemon, ticking, [&] {
    while (!executor.halted()) {
      executor.sleep_until(executor.now() + model::kMillisecondNs);
      ++ticks;
    }
  });
  std::thread outside([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      clock.post([&] { executor.spawn(Executor::Kind::user, account, [&] { ++served; }); });
    }
  });
  executor.run_until([&] { return served == 3; });
  EXPECT_GT(ticks, 0);
  bool said = false;
  clock.post([&] { said = true; });
  executor.run_until([&] { return said; });  // `said` is set by the event, not by a fiber
  outside.join();
  executor.halt();
}

}  // namespace
}  // namespace headcrash::os
