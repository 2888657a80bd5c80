#include "fs-adapters/linux/adapter.h"

#include <gtest/gtest.h>

namespace headcrash::adapters {
namespace {

TEST(Adapter, EveryBuiltInLoads) {
  for (const std::string& name : built_in_adapters()) {
    const Result<LinuxAdapter> adapter = load_adapter(name);
    ASSERT_TRUE(adapter) << adapter.error().message();
    EXPECT_EQ(adapter->name, name);
    EXPECT_FALSE(adapter->title.empty());
  }
}

TEST(Adapter, BaseIsTakenOverAndOverridden) {
  const Result<LinuxAdapter> control = load_adapter("ext4-nobarrier");
  ASSERT_TRUE(control) << control.error().message();
  EXPECT_EQ(control->mount_options, "nobarrier");
  EXPECT_EQ(control->expected, Expectation::loss);
  EXPECT_EQ(control->mkfs.argv, load_adapter("ext4")->mkfs.argv);
  EXPECT_TRUE(control->replay.good(1));
  EXPECT_FALSE(control->check.good(1));
}

TEST(Adapter, PromisesAreInheritedAndHaveDefaults) {
  const Promises ext4 = load_adapter("ext4-nobarrier")->promises;
  EXPECT_TRUE(ext4.fsync_keeps_name);
  EXPECT_TRUE(ext4.replace_keeps_content);
  EXPECT_TRUE(ext4.names_are_atomic);
  EXPECT_TRUE(ext4.renamed_file_survives);
  EXPECT_FALSE(ext4.exposes_stale_data);
  EXPECT_FALSE(load_adapter("xfs")->promises.replace_keeps_content);
  const Result<LinuxAdapter> weak = parse_adapter(
      "base = \"ext4\"\n[promise]\nnames-are-atomic = false\nexposes-stale-data = true\n"
      "renamed-file-survives = false\nfsync-keeps-links = false",
      "mine.toml");
  ASSERT_TRUE(weak) << weak.error().message();
  EXPECT_FALSE(weak->promises.names_are_atomic);
  EXPECT_TRUE(weak->promises.exposes_stale_data);
  EXPECT_FALSE(weak->promises.renamed_file_survives);
  EXPECT_FALSE(weak->promises.fsync_keeps_links);
}

TEST(Adapter, CommandsAreFilledIn) {
  EXPECT_EQ(fill_in({"mkfs", "-U", "{uuid}", "x={uuid},{device}"}, "/dev/vda", "U"),
            (std::vector<std::string>{"mkfs", "-U", "U", "x=U,/dev/vda"}));
}

struct BadAdapter {
  const char* text;
  const char* word;  ///< must stand in the message
};

class BadAdapterText : public testing::TestWithParam<BadAdapter> {};

TEST_P(BadAdapterText, IsOneErrorThatNamesTheKey) {
  const Result<LinuxAdapter> adapter = parse_adapter(GetParam().text, "mine.toml");
  ASSERT_FALSE(adapter);
  EXPECT_NE(adapter.error().message().find("mine.toml"), std::string::npos) << adapter.error().message();
  EXPECT_NE(adapter.error().message().find(GetParam().word), std::string::npos) << adapter.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadAdapterText,
    testing::Values(BadAdapter{"type = ", "mine.toml:1"}, BadAdapter{"typo = 1", "typo"},
                    BadAdapter{"type = 3", "type"},
                    BadAdapter{"base = \"ext4\"\n[promise]\nexpected = \"maybe\"", "promise.expected"},
                    BadAdapter{"base = \"ext4\"\n[check]\ngood = []", "check.good"},
                    BadAdapter{"base = \"ext4\"\n[check]\ncommand = [1, 2]", "check.command"},
                    BadAdapter{"base = \"ext4\"\nminimum-size = \"12Q\"", "minimum-size"},
                    BadAdapter{"type = \"ext4\"", "mkfs.command"},
                    BadAdapter{"base = \"ext4\"\n[promise]\nnames-are-atomc = true", "names-are-atomic"},
                    BadAdapter{"base = \"ext4\"\n[promise]\nnames-are-atomic = 1",
                               "promise.names-are-atomic"},
                    BadAdapter{"base = \"ext4\"\nmkfs = 3", "mkfs"}));

TEST(Adapter, UnknownNameListsTheKnownOnes) {
  const Result<LinuxAdapter> adapter = load_adapter("ext5");
  ASSERT_FALSE(adapter);
  EXPECT_NE(adapter.error().message().find("ext4-nobarrier"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::adapters
