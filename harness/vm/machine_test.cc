#include "harness/vm/machine.h"

#include <gtest/gtest.h>

namespace headcrash::vm {
namespace {

TEST(LastLines, ReturnsTheLastLinesOfAText) {
  EXPECT_EQ(last_lines("a\nb\r\nc\n\n", 2), "b\nc");
  EXPECT_EQ(last_lines("a\nb", 5), "a\nb");
  EXPECT_EQ(last_lines("\na", 1), "a");
  EXPECT_EQ(last_lines("a\n", 1), "a");
  EXPECT_EQ(last_lines("", 3), "");
  EXPECT_EQ(last_lines("\n\n", 3), "");
  EXPECT_EQ(last_lines("a", 0), "");
}

}  // namespace
}  // namespace headcrash::vm
