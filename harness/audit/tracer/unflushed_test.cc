#include "harness/audit/tracer/unflushed.h"

#include <gtest/gtest.h>

namespace headcrash::audit {
namespace {

const ChangeSite kWrite{.stack = "w", .names = false, .call = "write"};
const ChangeSite kRename{.stack = "r", .names = true, .call = "rename"};

TEST(Unflushed, ListsChangesUnflushedWhenALineIsPrinted) {
  Unflushed changes;
  changes.changed("/f/log", kWrite);
  changes.changed("/f", kRename);
  changes.flushed("/f/log");
  changes.promised();
  changes.promised();
  ASSERT_EQ(changes.at_lines().size(), 1U);
  EXPECT_EQ(changes.at_lines().begin()->first, kRename);
  EXPECT_EQ(changes.at_lines().begin()->second.lines, 2U);
  EXPECT_EQ(changes.at_lines().begin()->second.target, "/f");
}

TEST(Unflushed, IgnoresChangesAfterTheLastLine) {
  Unflushed changes;
  changes.promised();
  changes.changed("/f/log", kWrite);
  EXPECT_TRUE(changes.at_lines().empty());
}

TEST(Unflushed, FollowsAFileToItsNewName) {
  Unflushed changes;
  changes.changed("/f/temporary", kWrite);
  changes.moved("/f/temporary", "/f/value");
  changes.flushed("/f/temporary");
  changes.promised();
  ASSERT_EQ(changes.at_lines().size(), 1U);
  EXPECT_EQ(changes.at_lines().begin()->second.target, "/f/value");
}

TEST(Unflushed, ForgetsRemovedAndReplacedFiles) {
  Unflushed changes;
  changes.changed("/f/a", kWrite);
  changes.changed("/f/b", kWrite);
  changes.removed("/f/a");
  changes.moved("/f/c", "/f/b");
  changes.promised();
  EXPECT_TRUE(changes.at_lines().empty());
}

TEST(Unflushed, SyncCoversEverything) {
  Unflushed changes;
  changes.changed("/f/a", kWrite);
  changes.flushed_all();
  changes.promised();
  EXPECT_TRUE(changes.at_lines().empty());
}

}  // namespace
}  // namespace headcrash::audit
