#include "harness/workload/attribute_value.h"

#include <gtest/gtest.h>

#include "harness/workload/operation.h"

namespace headcrash::workload {
namespace {

TEST(AttributeValue, ParsesAllForms) {
  EXPECT_EQ(parse_attribute_value("plain"), "plain");
  EXPECT_EQ(parse_attribute_value("0x00fF41"), std::string("\0\xff"
                                                           "A",
                                                           3));
  EXPECT_EQ(parse_attribute_value("0x"), "");
  EXPECT_EQ(parse_attribute_value("fill:65536").value().size(), 65536U);
  EXPECT_NE(parse_attribute_value("fill:300:1"), parse_attribute_value("fill:300"));
  for (const char* wrong :
       {"0x1", "0xzz", "fill:", "fill:65537", "fill:1:26", "fill:1:", "fill:-1"})
    EXPECT_FALSE(parse_attribute_value(wrong)) << wrong;
}

TEST(AttributeValue, ParsingInvertsFormatting) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& value :
       {std::string("plain"), std::string(), std::string("0xtext"), std::string("fill:3"), all,
        std::string("a b"), *parse_attribute_value("fill:65536:25"),
        *parse_attribute_value("fill:3"), std::string("Grüße")}) {
    const std::string word = format_attribute_value(value);
    EXPECT_EQ(parse_attribute_value(word), value) << word.substr(0, 80);
    EXPECT_EQ(word.find(' '), std::string::npos);
  }
  EXPECT_EQ(format_attribute_value(*parse_attribute_value("fill:65536:25")), "fill:65536:25");
}

TEST(AttributeValue, AcceptsTheFourNamespaces) {
  for (const char* line :
       {"setxattr a user.b 0x00", "setxattr a trusted.overlay.opaque y",
        "setxattr a security.capability 0x01", "removexattr a system.posix_acl_access"})
    EXPECT_EQ(format(parse_operation(line, "test").value()), line);
  for (const char* line :
       {"setxattr a b c", "setxattr a user. c", "setxattr a user.b 0xq", "setxattr a os2.b c"})
    EXPECT_FALSE(parse_operation(line, "test")) << line;
}

TEST(AttributeValue, ReportsLongValuesByChecksum) {
  const std::string one = *parse_attribute_value("fill:65536"),
                    other = *parse_attribute_value("fill:65536:1");
  EXPECT_LT(reported_attribute_value(one).size(), 100U);
  EXPECT_EQ(reported_attribute_value(one), reported_attribute_value(one));
  EXPECT_NE(reported_attribute_value(one), reported_attribute_value(other));
  EXPECT_NE(reported_attribute_value(one), reported_attribute_value(one.substr(1)));
  EXPECT_EQ(reported_attribute_value("short"), "short");
  EXPECT_EQ(reported_attribute_bytes("user.x", "ab"), 12U);
  EXPECT_EQ(reported_attribute_bytes("user.x", "\xff"), 12U) << "in hexadecimal";
  const std::string reported = reported_attribute_value(one);
  EXPECT_EQ(reported_attribute_value(reported), reported)
      << "a list that recreates a tree contains reported values";
}

}  // namespace
}  // namespace headcrash::workload
