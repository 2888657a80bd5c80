#include "plugin/base/command_text.h"

#include <gtest/gtest.h>

namespace headcrash::base {
namespace {

TEST(CommandText, QuotesForAShell) {
  EXPECT_EQ(shell_quoted("it's $x"), "'it'\\''s $x'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(CommandText, FindsTheLastLine) {
  EXPECT_EQ(last_line("a\nb\n\n"), "b");
  EXPECT_EQ(last_line("a"), "a");
  EXPECT_EQ(last_line("\n"), "");
  EXPECT_EQ(last_line(""), "");
}

}  // namespace
}  // namespace headcrash::base
