#include "plugin/base/line_framing.h"

#include <gtest/gtest.h>

namespace headcrash::base {
namespace {

TEST(LineFramer, JoinsChunksAndSplitsLines) {
  LineFramer framer(100);
  framer.feed("on");
  EXPECT_FALSE(framer.next());
  framer.feed("e\ntwo\n\nthr");
  EXPECT_EQ(framer.next()->text, "one");
  EXPECT_EQ(framer.next()->text, "two");
  EXPECT_EQ(framer.next()->text, "");
  EXPECT_FALSE(framer.next());
  framer.feed("ee\n");
  EXPECT_EQ(framer.next()->text, "three");
}

TEST(LineFramer, SkipsALongLineAndStaysInSync) {
  LineFramer framer(8);
  for (int i = 0; i < 1000; ++i) {
    framer.feed("0123456789");
    EXPECT_FALSE(framer.next());
  }
  framer.feed("end\nnext\n");
  const auto line = framer.next();
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->too_long);
  EXPECT_EQ(line->text, "");
  EXPECT_EQ(framer.next()->text, "next");
}

TEST(LineFramer, AcceptsALineOfExactlyTheMaximumLength) {
  LineFramer framer(4);
  framer.feed("1234\n12345\n");
  EXPECT_FALSE(framer.next()->too_long);
  EXPECT_TRUE(framer.next()->too_long);
}

TEST(LineFramer, ResetDiscardsAPartialLine) {
  LineFramer framer(100);
  framer.feed("half");
  EXPECT_FALSE(framer.next());
  framer.reset();
  framer.feed("whole\n");
  EXPECT_EQ(framer.next()->text, "whole");
}

}  // namespace
}  // namespace headcrash::base
