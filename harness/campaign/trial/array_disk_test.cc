#include "harness/campaign/trial/array_disk.h"

#include <gtest/gtest.h>

namespace headcrash::campaign {
namespace {

constexpr std::uint64_t kArrayDiskMiB = 1 << 20;

TEST(ArrayDisk, HoldsAWholeNumberOfStripes) {
  EXPECT_EQ(disk_bytes_of({}, {}, 64 * kArrayDiskMiB + 512), 64 * kArrayDiskMiB + 512);
  EXPECT_EQ(disk_bytes_of({"raid5-5", {}, {}}, {}, 64 * kArrayDiskMiB), 64 * kArrayDiskMiB);
  EXPECT_EQ(disk_bytes_of({"netra-raid5", {}, {}}, {}, 64 * kArrayDiskMiB), 820 * 80 * 1024)
      << "10 times 8 KiB";
}

TEST(ArrayDisk, RejectsInvalidMachines) {
  const auto refusal = [](const explorer::StageMachine& machine) {
    const auto bytes = disk_bytes_of(machine, {}, 64 * kArrayDiskMiB);
    EXPECT_FALSE(bytes);
    return bytes ? "" : bytes.error().message();
  };
  EXPECT_NE(refusal({"hp-c2447", {}, {}}).find("is a single drive, not an array"),
            std::string::npos);
  EXPECT_NE(refusal({"raid5-55", {}, {}}).find("raid5-5"), std::string::npos);
  EXPECT_NE(refusal({"", {"dead:hd0.1"}, {}}).find("requires an array"), std::string::npos);
  EXPECT_NE(refusal({"raid5-5", {}, {"dead:hd0.7"}}).find("there is no device \"hd0.7\""),
            std::string::npos);
  EXPECT_NE(refusal({"raid5-5", {"broken"}, {}}).find("broken"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::campaign
