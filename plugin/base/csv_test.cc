// Tests that the reader returns the cells that were written.
#include "plugin/base/csv.h"

#include <gtest/gtest.h>

#include <random>

namespace headcrash::base {
namespace {

TEST(Csv, QuotesOnlyCellsThatNeedIt) {
  EXPECT_EQ(csv_line(CsvLine{"PK-09, Presto", "number", "", "a \"b\"", "two\nlines", " x "}),
            "\"PK-09, Presto\",number,,\"a \"\"b\"\"\",\"two\nlines\", x \n");
  EXPECT_EQ(csv_line(CsvLine{""}), "\"\"\n");
  EXPECT_EQ(csv_line(CsvLine{"a", "b"}, "\r\n"), "a,b\r\n");
}

TEST(Csv, ReadsBothLineEndingsAndAnUnterminatedLastLine) {
  const auto lines = read_csv("a,b\r\n\"c\r\nd\",\n,\"\"\n\"\"\nlast", "x");
  ASSERT_TRUE(lines) << lines.error().message();
  EXPECT_EQ(*lines, (std::vector<CsvLine>{{"a", "b"}, {"c\r\nd", ""}, {"", ""}, {""}, {"last"}}));
}

TEST(Csv, RejectsMisplacedQuotes) {
  for (const char* text : {"\"a", "a\"b", "\"a\"b", "x,\"a\"\"\n"}) {
    const auto lines = read_csv(text, "t.csv");
    ASSERT_FALSE(lines) << text;
    EXPECT_EQ(lines.error().subject, "t.csv");
  }
}

TEST(Csv, ReadsBackEverythingItWrites) {
  std::mt19937_64 random(1);
  constexpr std::string_view kCharacters = "ab,\"\n\r ;\xc3\xa9";
  for (int i = 0; i < 2000; ++i) {
    std::vector<CsvLine> lines(1 + random() % 4);
    std::string text;
    for (CsvLine& line : lines) {
      line.resize(1 + random() % 5);
      for (std::string& cell : line)
        for (std::size_t n = random() % 6; n > 0; --n)
          cell += kCharacters[random() % kCharacters.size()];
      text += csv_line(line, i % 2 == 0 ? "\n" : "\r\n");
    }
    const auto read = read_csv(text, "x");
    ASSERT_TRUE(read) << read.error().message() << "\n" << text;
    ASSERT_EQ(*read, lines) << text;
  }
}

}  // namespace
}  // namespace headcrash::base
