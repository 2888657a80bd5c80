// Tests the order, grouping and interruption of runs on two threads.
#include "harness/papers/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

namespace headcrash::experiment {
namespace {

TEST(InParallel, CallsEachItemOnceAndTheFirstOfEachGroupFirst) {
  const std::vector<std::string> groups{"a", "b", "a", "a", "b", "c", "a", "a"};
  for (int round = 0; round < 50; ++round) {
    std::mutex mutex;
    std::map<std::size_t, int> called;
    std::map<std::string, bool> made;
    EXPECT_TRUE(in_parallel({}, groups, [&](std::size_t i) {
      const std::lock_guard lock(mutex);
      ++called[i];
      if (const bool first = i == 0 || i == 1 || i == 5; first)
        made[groups[i]] = true;
      else
        EXPECT_TRUE(made[groups[i]]) << i;
    }));
    ASSERT_EQ(called.size(), groups.size());
    for (const auto& [i, times] : called) EXPECT_EQ(times, 1) << i;
  }
}

TEST(InParallel, AcceptsAnEmptyList) {
  EXPECT_TRUE(in_parallel({}, 0, [](std::size_t) { FAIL(); }));
}

TEST(InParallel, StopsWhenInterrupted) {
  std::atomic<int> runs{0};
  EXPECT_FALSE(in_parallel([&] { return runs >= 3; }, 100, [&](std::size_t) { ++runs; }));
  EXPECT_LE(runs, 4) << "at most one more on the other thread";
}

}  // namespace
}  // namespace headcrash::experiment
