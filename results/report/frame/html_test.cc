#include "results/report/frame/html.h"

#include <gtest/gtest.h>

#include "results/report/frame/figures.h"

namespace headcrash::report {
namespace {

TEST(Html, EscapesSpecialCharacters) {
  EXPECT_EQ(escape("<b class=\"x\">&'"), "&lt;b class=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x92\xbe"),
            "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x92\xbe");
}

TEST(Html, ReplacesInvalidBytes) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + r + "b");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), r + r) << "overlong";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), r + r + r) << "a surrogate";
  EXPECT_EQ(valid_utf8("\xf5\x80\x80\x80"), r + r + r + r) << "beyond Unicode";
  EXPECT_EQ(valid_utf8("\xe2\x82"), r + r) << "cut short";
  EXPECT_EQ(valid_utf8(std::string("a\0\x1b[1mb\tc\n", 10)), "a" + r + r + "[1mb\tc\n");
}

TEST(Html, LabelsEachTableCellWithItsColumn) {
  const auto table =
      html_table({{"a & b"}, {"n", Column::Kind::number}}, {{"<i>x</i>", "1"}}, "cards");
  EXPECT_NE(table.find("<th scope=\"col\">a &amp; b</th>"), std::string::npos);
  EXPECT_NE(
      table.find(
          "<td data-label=\"a &amp; b\"><i>x</i></td><td class=\"n\" data-label=\"n\">1</td>"),
      std::string::npos);
}

TEST(Html, GivesDifferentNamesDifferentIds) {
  EXPECT_EQ(anchor("trial", "ext4/hp-c2447/0"), "trial.ext4/hp-c2447/0");
  EXPECT_NE(anchor("trial", "a b"), anchor("trial", "a\tb"));
  EXPECT_NE(anchor("trial", "a b"), anchor("trial", "a-b"));
  EXPECT_EQ(anchor("x", "<\"'&\xff").find_first_of("<\"'&\xff "), std::string::npos);
  EXPECT_EQ(anchored(3, "x.y", "a & b"), "<h3 id=\"x.y\"><a href=\"#x.y\">a &amp; b</a></h3>\n");
}

TEST(Html, LimitsABarToItsFullWidth) {
  EXPECT_EQ(
      meter({.share = 0.5, .low = 0.25, .high = 0.75, .mark = 0.4, .css_class = "c1"}),
      "<span class=\"meter\"><i class=\"c1\" style=\"width:50.00%\"></i><u style=\"left:25.00%;width:50.00%\"></u>"
      "<s style=\"left:40.00%\"></s></span>");
  EXPECT_NE(meter({.share = 7}).find("width:100.00%"), std::string::npos);
}

TEST(Figures, UseThreeDigitsAndAFittingUnit) {
  const auto plain = [](std::string text) {
    for (auto at = text.find("\xc2\xa0"); at != std::string::npos; at = text.find("\xc2\xa0"))
      text.replace(at, 2, " ");
    return text;
  };
  EXPECT_EQ(plain(milliseconds(0)), "0 ms");
  EXPECT_EQ(plain(milliseconds(0.0123)), "12.3 \xc2\xb5s");
  EXPECT_EQ(plain(milliseconds(12.345)), "12.3 ms");
  EXPECT_EQ(plain(milliseconds(999.7)), "1.00 s");
  EXPECT_EQ(plain(milliseconds(1234)), "1.23 s");
  EXPECT_EQ(plain(milliseconds(123456)), "123 s");
  EXPECT_EQ(plain(microseconds(-12)), "-12.0 \xc2\xb5s");
  EXPECT_EQ(plain(bytes(512)), "512 B");
  EXPECT_EQ(plain(bytes(1536)), "1.50 KiB");
  EXPECT_EQ(plain(percent(0.0345)), "3.5 %");
  EXPECT_EQ(plain(duration(250)), "4 min 10 s");
}

}  // namespace
}  // namespace headcrash::report
