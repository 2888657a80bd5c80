#include "harness/guest/persisted_lines.h"

#include <gtest/gtest.h>

namespace headcrash::guest {
namespace {

using Texts = std::vector<std::string>;

TEST(PersistedLines, AreFoundForAnySplitOfTheBytes) {
  PersistedLines lines(false);
  EXPECT_EQ(lines.feed("hello\npersisted wal 1\npersis"), Texts{"wal 1"});
  EXPECT_EQ(lines.feed("ted delete 1"), Texts{});
  EXPECT_EQ(lines.feed("\nnot persisted 3\npersisted x\npersisted y\n"),
            (Texts{"delete 1", "x", "y"}));
  EXPECT_EQ(lines.refused(), 0U);
}

TEST(PersistedLines, InvalidLinesAreCounted) {
  PersistedLines lines(false);
  const std::string fits(kPersistedTextMost, 'x');
  EXPECT_EQ(lines.feed("persisted " + fits + "\n"), Texts{fits});
  EXPECT_EQ(lines.feed("persisted " + fits + "x\n"), Texts{});
  EXPECT_EQ(lines.feed(std::string(100'000, 'x')), Texts{});
  EXPECT_EQ(lines.feed("\npersisted \x01\npersisted \n"), Texts{});
  EXPECT_EQ(lines.refused(), 3U);
}

TEST(PersistedLines, MayTreatEveryLineAsPersisted) {
  PersistedLines lines(true);
  EXPECT_EQ(lines.feed("one\n\npersisted two\nthr"), (Texts{"one", "persisted two"}));
  EXPECT_EQ(lines.feed("ee\n"), Texts{"three"});
  EXPECT_EQ(lines.feed(std::string(kPersistedTextMost + 1, 'x') + "\n\x01\n"), Texts{});
  EXPECT_EQ(lines.refused(), 2U);
}

}  // namespace
}  // namespace headcrash::guest
