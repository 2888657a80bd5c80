#include "plugin/states/recent_map.h"

#include <gtest/gtest.h>

#include <string>

namespace headcrash::states {
namespace {

TEST(RecentMap, EvictsTheLeastRecentlyUsed) {
  RecentMap<int, std::string> kept(3);
  kept.put(1, "one");
  kept.put(9, "nine");
  kept.put(5, "five");
  ASSERT_NE(kept.find(1), nullptr) << "the smallest key, and now the most recent";
  kept.put(7, "seven");
  EXPECT_EQ(kept.find(9), nullptr);
  ASSERT_NE(kept.find(1), nullptr);
  EXPECT_EQ(*kept.find(1), "one");
  EXPECT_NE(kept.find(5), nullptr);
  EXPECT_NE(kept.find(7), nullptr);
}

TEST(RecentMap, ReplacingAValueEvictsNoOtherKey) {
  RecentMap<int, int> kept(2);
  kept.put(1, 10);
  kept.put(2, 20);
  kept.put(2, 21);
  EXPECT_EQ(*kept.find(1), 10);
  EXPECT_EQ(*kept.find(2), 21);
}

}  // namespace
}  // namespace headcrash::states
