// Tests the syncer daemon (syncer.h): when it writes, and how it runs work items.
#include "fs-adapters/substrate/os/syncer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fs-adapters/substrate/os/testing/world.h"

namespace headcrash::os {
namespace {

using model::kSecondNs;
using Log = std::vector<std::string>;
using Policy = SyncerOptions::Policy;

struct SyncedWorld : bench::World {
  explicit SyncedWorld(const SyncerOptions& options) : World({.syncer = options}) {
    syncer.start();
  }
  ~SyncedWorld() { executor.halt(); }

  void change(std::int64_t block, Content content = Content::metadata) {
    HeldBuffer buffer = cache.get({0, block}, content, static_cast<std::uint64_t>(block), 512);
    model::bench::fill_with(buffer.bytes(), ++word);
    cache.write_delayed(std::move(buffer));
  }
  double written_after_s(std::uint64_t lba, std::uint64_t what, TimeNs most = 100 * kSecondNs) {
    while (medium.word(lba) != what && executor.now() < most)
      executor.run_until(executor.now() + kSecondNs / 10);
    return static_cast<double>(executor.now()) / 1e9;
  }

  std::uint64_t word = 0;
};

TEST(Syncer, TheSweepWritesBuffersMarkedInThePreviousTurn) {
  SyncedWorld w({.policy = Policy::sweep, .parts = 5});
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    for (std::int64_t block = 10; block < 15; ++block) w.change(block);
  });
  w.executor.run();
  // The sweep visits one of five slots each second: blocks are marked at 1 to 5 s and written at 6
  // to 10 s.
  for (std::uint64_t i = 0; i < 5; ++i) {
    const double at = w.written_after_s(10 + i, i + 1);
    EXPECT_GE(at, 6.0 + static_cast<double>(i));
    EXPECT_LT(at, 6.3 + static_cast<double>(i));
  }
}

TEST(Syncer, PeriodicPolicyWritesEverythingInEachInterval) {
  SyncedWorld w({.policy = Policy::periodic, .interval_ns = 30 * kSecondNs});
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    w.executor.sleep_until(29 * kSecondNs);
    w.change(1);
    w.change(2, Content::data);
  });
  w.executor.run();
  EXPECT_LT(w.written_after_s(1, 1), 30.3);
  EXPECT_LT(w.written_after_s(2, 2), 30.3);
}

TEST(Syncer, DelayCountsFromTheLastChangeAndMetadataIsNotDelayed) {
  SyncedWorld w({.policy = Policy::interval, .interval_ns = 10 * kSecondNs});
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    w.change(1, Content::data);
    w.change(2);
    w.executor.sleep_until(8 * kSecondNs + kSecondNs / 2);
    w.change(1, Content::data);
  });
  w.executor.run();
  EXPECT_EQ(w.medium.word(2), 2U);
  const double at = w.written_after_s(1, 3);
  EXPECT_GE(at, 19.0);
  EXPECT_LT(at, 19.3);
}

TEST(Syncer, FailedWritesAreRetriedAfterADelay) {
  for (const Policy policy : {Policy::interval, Policy::write_through}) {
    SyncedWorld w({.policy = policy, .interval_ns = 0, .retry_ns = 20 * kSecondNs});
    w.disk.bad_sectors = {1};
    w.executor.spawn(Executor::Kind::user, w.account, [&] {
      w.change(1);
      w.change(2);
    });
    w.executor.run();
    w.executor.run_until(15 * kSecondNs);
    EXPECT_EQ(w.medium.word(2), 2U);
    EXPECT_EQ(std::ranges::count(w.disk.log, "w1+1"), 1);
    w.executor.run_until(95 * kSecondNs);
    EXPECT_EQ(std::ranges::count(w.disk.log, "w1+1"), 5);
    w.disk.bad_sectors = {};
    EXPECT_LT(w.written_after_s(1, 1, 200 * kSecondNs), 120);
  }
}

TEST(Syncer, AgeCanCountFromTheFirstChange) {
  SyncedWorld w({.policy = Policy::interval,
                 .interval_ns = 10 * kSecondNs,
                 .age = SyncerOptions::Age::since_first_change});
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    for (int i = 0; i < 9; ++i) {
      w.change(1, Content::data);
      w.executor.sleep_until((i + 1) * kSecondNs + kSecondNs / 2);
    }
  });
  w.executor.run();
  const double at = w.written_after_s(1, 9);
  EXPECT_GE(at, 10.0);
  EXPECT_LT(at, 10.3);
}

/// due_at() is for state outside the cache: a log, commits, in-core inodes.
TEST(Syncer, ReportsTheDueTimeOfAChange) {
  constexpr TimeNs kUsual = 7 * kSecondNs, kNow = 42 * kSecondNs + kSecondNs / 2;
  const auto due = [&](const SyncerOptions& options, Content content, TimeNs& since) {
    SyncedWorld w(options);
    TimeNs at = 0;
    w.executor.spawn(Executor::Kind::user, w.account, [&] {
      w.executor.sleep_until(kNow);
      at = w.syncer.due_at(content, kUsual);
      since = w.syncer.due_since(kUsual);
    });
    w.executor.run();
    return at;
  };
  TimeNs since = 0;
  EXPECT_EQ(due({.policy = Policy::sweep}, Content::data, since), kNow + kUsual);
  EXPECT_EQ(since, kNow - kUsual);
  EXPECT_EQ(due({.policy = Policy::none}, Content::metadata, since), model::kNever);
  EXPECT_LT(since, 0);
  EXPECT_EQ(due({.policy = Policy::periodic, .interval_ns = 20 * kSecondNs}, Content::data, since),
            60 * kSecondNs);
  EXPECT_LT(since, 0) << "between two updates nothing is due";
  EXPECT_EQ(due({.policy = Policy::interval, .interval_ns = 5 * kSecondNs}, Content::data, since),
            kNow + 5 * kSecondNs);
  EXPECT_EQ(since, kNow - 5 * kSecondNs);
  EXPECT_EQ(
      due({.policy = Policy::interval, .interval_ns = 5 * kSecondNs}, Content::metadata, since),
      kNow);
  EXPECT_EQ(due({.policy = Policy::interval, .interval_ns = model::kNever}, Content::data, since),
            model::kNever);
  EXPECT_LT(since, 0);
  EXPECT_EQ(due({.policy = Policy::write_through}, Content::data, since), kNow);
}

TEST(Syncer, ZeroDelayWritesAtTheNextTickAndInfiniteDelayNever) {
  for (const TimeNs delay : {TimeNs{0}, model::kNever}) {
    SyncedWorld w({.policy = Policy::interval, .interval_ns = delay});
    w.executor.spawn(Executor::Kind::user, w.account, [&] {
      w.executor.sleep_until(kSecondNs / 2);
      w.change(1, Content::data);
      w.change(2);
    });
    w.executor.run();
    w.executor.run_until(delay == 0 ? 3 * kSecondNs / 2 : 500 * kSecondNs);
    EXPECT_EQ(w.medium.word(1), delay == 0 ? 1U : 0U);
    EXPECT_EQ(w.medium.word(2), 2U);  // metadata
  }
}

TEST(Syncer, MetadataCanBeDelayedLikeData) {
  SyncedWorld w(
      {.policy = Policy::interval, .interval_ns = 20 * kSecondNs, .metadata_waits = true});
  TimeNs inodes_due = 0;
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    w.change(1);
    w.change(2, Content::data);
    inodes_due = w.syncer.due_at(Content::metadata, kSecondNs);
  });
  w.executor.run();
  EXPECT_EQ(inodes_due, 0);
  const double at = w.written_after_s(1, 1);
  EXPECT_GE(at, 20.0);
  EXPECT_LT(at, 21.3);
  EXPECT_LT(w.written_after_s(2, 2), 21.3);
}

/// Chen's example: 10 MB of dirty data, a delay of at most 15 s, and a disk that writes 5 MB/s.
TEST(Syncer, ABurstOfWritesStartsEarlyEnoughToFinishInTime) {
  constexpr std::uint64_t kMb = 1'000'000;
  const SyncerOptions chen{
      .policy = Policy::burst, .interval_ns = 15 * kSecondNs, .drain_bytes_per_s = 5 * kMb};
  EXPECT_EQ(burst_age_ns(chen, 10 * kMb), 13 * kSecondNs);
  EXPECT_EQ(burst_age_ns(chen, 0), 15 * kSecondNs);
  EXPECT_EQ(burst_age_ns(chen, 75 * kMb), 0);
  EXPECT_EQ(burst_age_ns(chen, 1000 * kMb), 0);
  // In this example, 8 blocks of 512 bytes take 4 s at 1 KiB/s.
  SyncedWorld w(
      {.policy = Policy::burst, .interval_ns = 10 * kSecondNs, .drain_bytes_per_s = 1024});
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    for (std::int64_t block = 1; block <= 8; ++block) w.change(block, Content::data);
  });
  w.executor.run();
  const double at = w.written_after_s(1, 1);
  EXPECT_GE(at, 6.0);
  EXPECT_LT(at, 6.3);
}

TEST(Syncer, PolicyNoneWritesNothing) {
  SyncedWorld w({.policy = Policy::none});
  w.executor.spawn(Executor::Kind::user, w.account, [&] { w.change(1); });
  w.executor.run_until(500 * kSecondNs);
  EXPECT_TRUE(w.disk.log.empty());
  EXPECT_TRUE(w.cache.any_dirty());
}

TEST(Syncer, DeferredWorkRunsInOrderBeforeTheSweepOfATick) {
  SyncedWorld w({.policy = Policy::interval});
  Log log;
  const auto say = [&](const std::string& what) {
    log.push_back(std::to_string(w.executor.now() / 1'000'000) + " " + what);
  };
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    w.syncer.add_work([&] { say("late"); }, 5 * kSecondNs / 2);
    w.syncer.add_work([&] {
      say("a");
      w.change(7);
      w.executor.sleep_until(w.executor.now() + kSecondNs / 2);  // a work item may wait
      w.syncer.add_work([&] { say("asked for by a"); });
    });
    w.syncer.add_work([&] { say("b"); });
    EXPECT_EQ(w.syncer.work_waiting(), 3U);
    EXPECT_TRUE(log.empty());
  });
  w.executor.run_until(4 * kSecondNs);
  EXPECT_EQ(log, (Log{"1000 a", "1500 b", "2000 asked for by a", "3000 late"}));
  EXPECT_EQ(w.medium.word(7), 1U);
  EXPECT_EQ(w.syncer.work_waiting(), 0U);
}

TEST(SyncerDeathTest, LimitsDeferredWork) {
  SyncedWorld w({.policy = Policy::none, .work_max = 2});
  w.syncer.add_work([] {});
  w.syncer.add_work([] {}, 60 * kSecondNs);
  EXPECT_DEATH(w.syncer.add_work([] {}), "more than work_max items are deferred");
}

TEST(Syncer, AnyFiberCanRunDeferredWork) {
  SyncedWorld w({.policy = Policy::none});
  Log log;
  w.executor.spawn(Executor::Kind::user, w.account, [&] {
    w.syncer.add_work([&] { log.emplace_back("in a minute"); }, 60 * kSecondNs);
    w.syncer.add_work([&] { log.push_back("now, by " + w.executor.account().name); });
    w.syncer.do_work(Syncer::Extent::due);
    EXPECT_EQ(log, Log{"now, by ann"});
    w.syncer.do_work(Syncer::Extent::everything);
    EXPECT_EQ(log, (Log{"now, by ann", "in a minute"}));
  });
  w.executor.run();
}

}  // namespace
}  // namespace headcrash::os
