#include "plugin/base/command_text.h"

#include <gtest/gtest.h>

namespace headcrash::base {
namespace {

TEST(CommandText, ReplacesAllOccurrencesButNotInReplacements) {
  const auto replaced = [](std::string text, const char* from, const char* to) {
    replace_all(text, from, to);
    return text;
  };
  EXPECT_EQ(replaced("{a} x{a}{a}", "{a}", "12"), "12 x1212");
  EXPECT_EQ(replaced("aa", "a", "aa"), "aaaa") << "replacements are not searched";
  EXPECT_EQ(replaced("aaa", "aa", ""), "a");
  EXPECT_EQ(replaced("x", "a", "b"), "x");
}

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
