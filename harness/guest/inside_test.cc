#include "harness/guest/inside.h"

#include <gtest/gtest.h>

namespace headcrash::guest {
namespace {

using Words = std::vector<std::string>;

TEST(Inside, ParsesItsArguments) {
  const auto command = parse_inside(
      {"/init", "inside", "/mnt", "/disk", "/files", "/d", "A=1", "B=", "--", "./t", "--", "C=2"});
  ASSERT_TRUE(command);
  EXPECT_EQ(command->root, "/mnt");
  EXPECT_EQ(command->disk, "/disk");
  EXPECT_EQ(command->files, "/files");
  EXPECT_EQ(command->folder, "/d");
  EXPECT_EQ(command->environment, (Words{"A=1", "B="}));
  EXPECT_EQ(command->argv, (Words{"./t", "--", "C=2"}));
  EXPECT_EQ(parse_inside({"/init", "inside", "a", "b", "c", "d", "--", "e"})->environment, Words());
}

TEST(Inside, LeavesOtherCommandsUnchanged) {
  for (const Words& other :
       {Words{}, Words{"a", "b", "c", "d", "e", "f", "--", "g"},
        Words{"/init", "inside", "--", "e"}, Words{"/init", "inside", "a", "b", "c", "d", "--"},
        Words{"/init", "inside", "a", "b", "c", "--", "e"},
        Words{"/init", "outside", "a", "b", "c", "d", "--", "e"}}) {
    EXPECT_FALSE(parse_inside(other)) << other.size();
    EXPECT_EQ(program_of(other).argv, other);
    EXPECT_FALSE(program_of(other).enter);
  }
}

TEST(Inside, PassesTheEnvironmentToTheProgram) {
  const Program program =
      program_of({"/init", "inside", "/mnt", "/disk", "/files", "/d", "A=1", "--", "./t", "x"});
  EXPECT_EQ(program.argv, (Words{"./t", "x"}));
  EXPECT_EQ(program.environment, Words{"A=1"});
  EXPECT_TRUE(program.enter);
}

}  // namespace
}  // namespace headcrash::guest
