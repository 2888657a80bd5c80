// Tests the parameters that a ServedDevice passes to the plugin. The plugin is queried for its
// settings.
#include "harness/device/served_device.h"

#include <gtest/gtest.h>

#include "plugin/base/scratch_folder.h"

namespace headcrash::device {
namespace {

std::string refusal_of(const ServedDeviceSpec& spec) {
  const auto scratch = base::ScratchFolder::make();
  EXPECT_TRUE(scratch);
  const auto served = ServedDevice::start(spec, scratch->path());
  return served ? "" : served.error().message();
}

TEST(ServedDevice, PassesTheOptionsToThePlugin) {
  const ServedDeviceSpec good{
      .machine = {.profile = "hp-c2447", .size_bytes = 1 << 20, .clock = profiles::kClockOff}};
  EXPECT_EQ(refusal_of(good), "");
  ServedDeviceSpec bad = good;
  bad.machine.options.write_cache = true;
  bad.machine.profile = "raid5-5";
  bad.machine.size_bytes = 64 << 20;
  EXPECT_NE(refusal_of(bad).find("write-cache"), std::string::npos) << refusal_of(bad);
}

TEST(ServedDevice, PreservesTheKindOfAnError) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const auto served = ServedDevice::start(
      {.machine = {.profile = "hp-c2447", .size_bytes = 1 << 20, .clock = profiles::kClockOff}},
      scratch->path());
  ASSERT_TRUE(served) << served.error().message();
  const auto kind_of = [&](const char* kind) {
    const auto refused = (*served)->control().accepted(
        {{"ok", false}, {"error", "stage 0: a request is in flight"}, {"kind", kind}});
    return refused.error().kind;
  };
  EXPECT_EQ(kind_of("busy"), ErrorKind::busy);
  EXPECT_EQ(kind_of("does-not-start"), ErrorKind::does_not_start);
  EXPECT_EQ(kind_of("of a later version"), ErrorKind::other);
}

}  // namespace
}  // namespace headcrash::device
