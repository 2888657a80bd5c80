#include "harness/run/time_left.h"

#include <gtest/gtest.h>

#include <string>

namespace headcrash::run {
namespace {

TEST(TimeLeft, UsesTheCellsMeanOrTheMeanOfAllTrials) {
  TimeLeft<std::string> left;
  left.plan("slow", 3);
  left.plan("quick", 2);
  left.add("unseen");
  EXPECT_FALSE(left.seconds()) << "no trial has finished yet";
  left.done("slow", 10'000);
  left.done("quick", 2'000);
  EXPECT_DOUBLE_EQ(*left.seconds(), 2 * 10 + 1 * 2 + 1 * 6);
  left.plan("slow", 0);
  left.done("slow", 4'000);  // this group has finished more trials than were planned
  EXPECT_DOUBLE_EQ(*left.seconds(), 2 + 16.0 / 3);
}

}  // namespace
}  // namespace headcrash::run
