#include "harness/run/side_by_side.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <set>

namespace headcrash::run {
namespace {

/// Calls `act` for each item, and records the order in which the items start.
struct Begun {
  std::mutex mutex;
  std::vector<std::size_t> items;
  std::set<std::thread::id> threads;

  Result<void> run(std::size_t jobs, std::size_t count, const std::atomic<bool>* interrupted,
                   const std::function<Result<void>(std::size_t)>& act) {
    return side_by_side(jobs, count, interrupted, [&] {
      return [&](std::size_t item) {
        {
          const std::lock_guard lock(mutex);
          items.push_back(item);
          threads.insert(std::this_thread::get_id());
        }
        return act(item);
      };
    });
  }
};

const std::vector<std::size_t> kFirstThree{0, 1, 2};

TEST(SideBySide, ProcessesEachItemOnceInOrder) {
  Begun begun;
  EXPECT_TRUE(begun.run(1, 3, nullptr, [](std::size_t) { return Result<void>(); }));
  EXPECT_EQ(begun.items, kFirstThree);
  EXPECT_TRUE(begun.run(5, 0, nullptr,
                        [](std::size_t) { return Result<void>(fail("x", "no item", "none")); }));
}

TEST(SideBySide, UsesAsManyThreadsAsJobs) {
  Begun begun;
  std::mutex mutex;
  std::condition_variable all_there;
  std::size_t there = 0;
  const auto wait_for_the_others = [&](std::size_t) {
    std::unique_lock lock(mutex);
    ++there;
    all_there.notify_all();
    const bool met = all_there.wait_for(lock, std::chrono::seconds(30), [&] { return there >= 3; });
    return met ? Result<void>() : Result<void>(fail("x", "alone", "none"));
  };
  EXPECT_TRUE(begun.run(3, 3, nullptr, wait_for_the_others));
  EXPECT_EQ(begun.threads.size(), 3U);
}

TEST(SideBySide, StartsNoItemAfterAFailure) {
  Begun begun;
  const auto done = begun.run(1, 9, nullptr, [](std::size_t item) {
    return item == 2 ? Result<void>(fail("item", "failed", "mend it")) : Result<void>();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().problem, "failed");
  EXPECT_EQ(begun.items, kFirstThree);
}

TEST(SideBySide, InterruptedItemsAreNotFailures) {
  Begun begun;
  std::atomic<bool> interrupted = false;
  EXPECT_TRUE(begun.run(1, 9, &interrupted, [&](std::size_t item) {
    if (item != 2) return Result<void>();
    interrupted = true;
    return Result<void>(fail("guest", "was killed", "none"));
  }));
  EXPECT_EQ(begun.items, kFirstThree);
}

}  // namespace
}  // namespace headcrash::run
