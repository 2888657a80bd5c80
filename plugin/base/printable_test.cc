#include "plugin/base/printable.h"

#include <gtest/gtest.h>

namespace headcrash::base {
namespace {

TEST(Printable, LeavesPrintableTextUnchanged) {
  for (const char* text : {"", "a name", "Grüße", "日本", "\U0001f600", "C:\\x"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a terminal takes U+009B for ESC [";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "the direction of what follows";
  EXPECT_EQ(printable_lines("a\n\tb\x1b\n"), "a\n\tb\\x1b\n");
}

TEST(Printable, EscapesInvalidUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than it needs to be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(Printable, TruncatesLongText) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("aé", 2), "a...");
  EXPECT_EQ(printable("abc", 3), "abc");
}

}  // namespace
}  // namespace headcrash::base
