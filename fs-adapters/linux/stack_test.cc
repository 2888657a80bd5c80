#include "fs-adapters/linux/stack.h"

#include <gtest/gtest.h>

#include "fs-adapters/linux/adapter.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::adapters {
namespace {

constexpr const char* kMine = R"(
title = "mine"
disks = 3
device = "/dev/md127"
[create]
command = ["make", "{device}", "{uuid}", "{disks}"]
[assemble]
command = ["sh", "-c", "start {device} {disks} {disk1}"]
[stop]
command = ["stop"]
[promise]
reason = "r"
source = "s"
)";

std::string error_of(const std::string& text) {
  const auto stack = parse_stack_of_devices(text, "mine.toml");
  return stack ? "" : stack.error().message();
}
std::string with(const std::string& from, const std::string& to) {
  std::string text = kMine;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Stack, EveryBuiltInStackIsComplete) {
  ASSERT_FALSE(built_in_stacks().empty());
  for (const std::string& name : built_in_stacks()) {
    const auto stack = load_stack_of_devices(name);
    ASSERT_TRUE(stack) << stack.error().message();
    EXPECT_EQ(stack->name, name);
    EXPECT_FALSE(stack->source.empty()) << name;
    const auto adapter = load_adapter("ext4:" + name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    EXPECT_EQ(adapter->other_disks(1 << 20).size(), stack->disks - 1);
  }
}

TEST(Stack, CommandsContainThePathsOfTheDisks) {
  const auto stack = parse_stack_of_devices("absent = ['hd1']\n" + std::string(kMine), "mine.toml");
  ASSERT_TRUE(stack) << stack.error().message();
  EXPECT_EQ(
      fill_in_stack(*stack, stack->create.argv, "u-u", false),
      (std::vector<std::string>{"make", "/dev/md127", "u-u", "/dev/vda", "/dev/vdc", "/dev/vdd"}));
  EXPECT_EQ(fill_in_stack(*stack, stack->assemble.argv, {}, true).back(),
            "start /dev/md127 /dev/vda /dev/vdd /dev/vdc")
      << "{disks} omits the absent disk";
}

TEST(Stack, EachMistakeCausesOneClearError) {
  EXPECT_EQ(error_of(kMine), "");
  EXPECT_NE(error_of("disk = 2\n" + std::string(kMine))
                .find("mine.toml: disk: unknown key; did you mean \"disks\"?"),
            std::string::npos);
  EXPECT_NE(error_of(with("disks = 3", "disks = 9")).find("mine.toml: disks: "), std::string::npos);
  EXPECT_NE(error_of(with("disks = 3", "disks = 3\ndata-disks = 4")).find("data-disks: 4 is more"),
            std::string::npos);
  EXPECT_NE(
      error_of(with("/dev/md127", "md127")).find("device: \"md127\" is not a path below /dev"),
      std::string::npos);
  EXPECT_NE(error_of(with("[stop]\ncommand = [\"stop\"]", "")).find("stop.command: is missing"),
            std::string::npos);
  EXPECT_NE(error_of(with("{disk1}", "{disk3}")).find("unknown placeholder \"{disk3}\""),
            std::string::npos);
  EXPECT_NE(error_of(with("source = \"s\"", "")).find("promise.source: is missing"),
            std::string::npos);
  EXPECT_NE(error_of(with("[stop]", "[stop]\nhost = true"))
                .find("stop.host: is not supported for stacks"),
            std::string::npos);
  EXPECT_NE(error_of("absent = ['hd3']\n" + std::string(kMine)).find("there is no disk \"hd3\""),
            std::string::npos);
  EXPECT_NE(error_of("absent = ['hd0','hd1','hd2']\n" + std::string(kMine))
                .find("lists all disks, so none would be left"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kMine) + "[rules]\nmirror-width = 2\n")
                .find("mirror-width: 2 is not a valid number of copies for 3 disks"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kMine) + "[rules]\nmirror-width = 1\n")
                .find("mirror-width: 1 is not a valid number of copies for 3 disks"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(kMine) + "[degrade]\ncommand = ['fail', '{disk3}']\n")
                .find("unknown placeholder \"{disk3}\""),
            std::string::npos);
}

TEST(Stack, AStackOverridesTheRulesOfItsBase) {
  const auto stack = parse_stack_of_devices(
      "base = 'md-raid1'\n[degrade]\ncommand = ['fail']\ngood = [3]\n[rules]\nmirror-width = 0\n",
      "mine.toml");
  ASSERT_TRUE(stack) << stack.error().message();
  EXPECT_EQ(stack->rules.mirror_width, 0U);
  EXPECT_TRUE(stack->rules.flushed_on_all) << "inherited";
  EXPECT_EQ(stack->degrade.argv, std::vector<std::string>{"fail"});
  EXPECT_TRUE(stack->degrade.good(3));
  EXPECT_FALSE(stack->degrade.good(0));
  EXPECT_TRUE(load_stack_of_devices("md-raid1")->degrade.argv.empty());
}

TEST(Stack, AFileSystemOnAStackUsesTheStacksDevice) {
  const auto adapter = load_adapter("ext4+tiny-journal:md-raid5");
  ASSERT_TRUE(adapter) << adapter.error().message();
  EXPECT_EQ(adapter->name, "ext4+tiny-journal:md-raid5");
  EXPECT_EQ(adapter->mkfs.argv.back(), "/dev/md127");
  EXPECT_FALSE(adapter->check.host) << "the host has no such device";
  EXPECT_EQ(name_to_load(*adapter), adapter->name);
  EXPECT_EQ(name_without_stack(*adapter), "ext4+tiny-journal");
  EXPECT_EQ(name_on_stack("ext4@6.12", "md-raid5"), "ext4:md-raid5@6.12");
  EXPECT_EQ(name_on_stack("ext4", ""), "ext4");
  EXPECT_TRUE(adapter->has_several_disks());
  EXPECT_EQ(adapter->other_disks(100),
            (std::vector<OtherDisk>{{virtual_guest::kOtherDisks[1], 100}, {"hd2", 100}}));
  EXPECT_EQ(adapter->minimum_size_bytes, 11U << 20) << "half of 16M, and 3M of metadata";
  EXPECT_FALSE(load_adapter("ext4:md-raid9"));
  EXPECT_FALSE(load_adapter("ext4-external-journal:md-raid1"));
  EXPECT_FALSE(load_adapter("ext4:dm-crypt")->has_several_disks());
}

}  // namespace
}  // namespace headcrash::adapters
