#include "harness/guest/kernel.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>

#include "harness/guest/kernel_log.h"

namespace headcrash::guest {
namespace {

// Functions that change the state of the kernel are tested in a guest (harness/vm/guest_test.cc).

TEST(MountOptions, SplitsFlagsFromData) {
  const MountOptions options = parse_mount_options("ro,noatime,data=journal,commit=1,rw,,sync");
  EXPECT_EQ(options.flags, MS_NOATIME | MS_SYNCHRONOUS);
  EXPECT_EQ(options.data, "data=journal,commit=1");
  EXPECT_EQ(parse_mount_options("").flags, 0U);
  EXPECT_EQ(parse_mount_options("defaults").data, "");
}

TEST(Seed, ParsesHex) {
  EXPECT_EQ(parse_seed("00fF").value(), (std::vector{std::byte{0}, std::byte{0xff}}));
  EXPECT_TRUE(parse_seed("")->empty());
  EXPECT_EQ(parse_seed(std::string(64, '1'))->size(), 32U);
  for (const std::string& text :
       {std::string("0"), std::string("0g"), std::string("-1"), std::string(66, '1')}) {
    EXPECT_EQ(parse_seed(text).error().value, EINVAL) << text;
  }
}

TEST(MarkDisk, NeedsADevice) {
  MarkDisk mark;
  EXPECT_EQ(mark.open("/dev/no-such-disk").error().value, ENOENT);
  EXPECT_EQ(mark.write("persisted 1").error().value, EBADF);
}

TEST(BlockDevice, RejectsARegularFile) {
  EXPECT_EQ(inspect_disk("/dev/null").error().value, ENOTTY);
}

TEST(KernelLog, JoinsTheLastLines) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b; c");
  EXPECT_EQ(last_lines("a\nb", 3), "a; b");
  EXPECT_EQ(last_lines("a\n", 1), "a");
  EXPECT_EQ(last_lines("\n", 2), "");
  EXPECT_EQ(last_lines("", 2), "");
}

}  // namespace
}  // namespace headcrash::guest
