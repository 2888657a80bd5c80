#include "harness/lab/stage_machine.h"

#include <gtest/gtest.h>

namespace headcrash::lab {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(StageMachine, HasWholeStripes) {
  EXPECT_EQ(disk_bytes_of({}, 64 * kMiB + 512), 64 * kMiB + 512);
  EXPECT_EQ(disk_bytes_of({"raid5-5", {}, {}}, 64 * kMiB), 64 * kMiB);
  EXPECT_EQ(disk_bytes_of({"netra-raid5", {}, {}}, 64 * kMiB), 820 * 80 * 1024) << "10 times 8 KiB";
}

TEST(StageMachine, WhatItCannotBeIsRefused) {
  const auto refusal = [](const StageMachine& machine) {
    const auto bytes = disk_bytes_of(machine, 64 * kMiB);
    EXPECT_FALSE(bytes);
    return bytes ? "" : bytes.error().message();
  };
  EXPECT_NE(refusal({"hp-c2447", {}, {}}).find("is one drive, not an array"), std::string::npos);
  EXPECT_NE(refusal({"raid5-55", {}, {}}).find("raid5-5"), std::string::npos);
  EXPECT_NE(refusal({"", {"dead:hd0.1"}, {}}).find("is of no machine"), std::string::npos);
  EXPECT_NE(refusal({"raid5-5", {}, {"dead:hd0.7"}}).find("there is no device \"hd0.7\""), std::string::npos);
  EXPECT_NE(refusal({"raid5-5", {"broken"}, {}}).find("broken"), std::string::npos);
}

TEST(StageMachine, IsToldAsOptions) {
  EXPECT_EQ(StageMachine{}.as_options(), "");
  EXPECT_EQ(StageMachine{}.name(), "stage");
  const StageMachine machine{"arrays/mine.toml", {"dead:hd0.1"}, {"dead:hd0.2"}};
  EXPECT_EQ(machine.name(), "mine");
  EXPECT_EQ(machine.as_options(),
            " --machine arrays/mine.toml --fault dead:hd0.1 --fault-after-cut dead:hd0.2");
  EXPECT_EQ(machine.faults_in_recovery(), (std::vector<std::string>{"dead:hd0.1", "dead:hd0.2"}));
}

}  // namespace
}  // namespace headcrash::lab
