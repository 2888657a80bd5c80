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

TEST(ServedDevice, PassesTheTearSettingToThePlugin) {
  const ServedDeviceSpec good{
      .profile = "hp-c2447", .size_bytes = 1 << 20, .tear = "unreadable", .clock = "off"};
  EXPECT_EQ(refusal_of(good), "");
  ServedDeviceSpec bad = good;
  bad.tear = "unreadble";
  const std::string message = refusal_of(bad);
  EXPECT_NE(message.find("unknown tear \"unreadble\""), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean \"unreadable\""), std::string::npos) << message;
}

TEST(ServedDevice, PreservesTheKindOfAnError) {
  const auto scratch = base::ScratchFolder::make();
  ASSERT_TRUE(scratch);
  const auto served = ServedDevice::start(
      {.profile = "hp-c2447", .size_bytes = 1 << 20, .clock = "off"}, scratch->path());
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
