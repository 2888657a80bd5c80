#include "harness/guest/inside.h"

#include <gtest/gtest.h>

namespace headcrash::guest {
namespace {

using Words = std::vector<std::string>;

TEST(Inside, ParsesItsArguments) {
  const auto command =
      parse_inside({"/mnt", "/disk", "/files", "/d", "A=1", "B=", "--", "./t", "--", "C=2"});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->root, "/mnt");
  EXPECT_EQ(command->disk, "/disk");
  EXPECT_EQ(command->files, "/files");
  EXPECT_EQ(command->folder, "/d");
  EXPECT_EQ(command->environment, (Words{"A=1", "B="}));
  EXPECT_EQ(command->argv, (Words{"./t", "--", "C=2"}));
  EXPECT_EQ(parse_inside({"a", "b", "c", "d", "--", "e"})->environment, Words());
}

TEST(Inside, RejectsIncompleteArguments) {
  for (const Words& wrong : {Words{}, Words{"a", "b", "c", "d"}, Words{"a", "b", "c", "d", "--"},
                             Words{"a", "b", "c", "--", "e"}, Words{"a", "b", "c", "d", "e"}})
    EXPECT_FALSE(parse_inside(wrong)) << wrong.size();
}

}  // namespace
}  // namespace headcrash::guest
