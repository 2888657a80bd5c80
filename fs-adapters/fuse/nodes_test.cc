#include "fs-adapters/fuse/nodes.h"

#include <gtest/gtest.h>

namespace headcrash::fuse {
namespace {

constexpr InodeName kRoot{.inode = 2, .generation = 0};
constexpr InodeName kFile{.inode = 7, .generation = 3};

TEST(Nodes, InodeKeepsItsNumberUntilForgotten) {
  Nodes nodes;
  nodes.set_root(kRoot);
  EXPECT_EQ(nodes.remember(kRoot), kRootNode);
  const std::uint64_t node = nodes.remember(kFile);
  EXPECT_EQ(nodes.remember(kFile), node);
  nodes.forget(node, 1);
  ASSERT_TRUE(nodes.find(node));
  EXPECT_EQ(nodes.find(node)->path(), "//7.3");
  nodes.forget(node, 1);
  EXPECT_FALSE(nodes.find(node));
  EXPECT_EQ(nodes.size(), 1U);
}

TEST(Nodes, NumbersAreNeverReused) {
  Nodes nodes;
  nodes.set_root(kRoot);
  const std::uint64_t node = nodes.remember(kFile);
  const std::uint64_t successor = nodes.remember({.inode = 7, .generation = 4});
  EXPECT_NE(node, successor);
  nodes.forget(node, 1);
  nodes.forget(node, 1);  // the lookup count is already 0
  EXPECT_TRUE(nodes.find(successor));
  const std::uint64_t again = nodes.remember(kFile);
  EXPECT_NE(again, node);
  EXPECT_NE(again, successor);
}

TEST(Nodes, RootIsNeverForgotten) {
  Nodes nodes;
  nodes.set_root(kRoot);
  nodes.forget(kRootNode, 1000);
  EXPECT_TRUE(nodes.find(kRootNode));
}

TEST(InodeName, IsParsedFromAPath) {
  std::string_view path = "//12.3/a/b";
  const auto name = InodeName::take(path);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->inode, 12U);
  EXPECT_EQ(name->generation, 3U);
  EXPECT_EQ(path, "/a/b");
  for (const char* other : {"", "/12.3", "//", "//12", "//12.", "//12.3x", "//.3", "//a.b",
                            "a//12.3", "//99999999999999999999.1"}) {
    std::string_view rest = other;
    EXPECT_FALSE(InodeName::take(rest)) << other;
    EXPECT_EQ(rest, other);
  }
}

}  // namespace
}  // namespace headcrash::fuse
