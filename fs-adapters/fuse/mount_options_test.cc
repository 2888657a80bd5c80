#include "fs-adapters/fuse/mount_options.h"

#include <gtest/gtest.h>

#include <array>

#include "fs-adapters/fuse/file_systems.h"
#include "fs-adapters/registry.h"

namespace headcrash::fuse {
namespace {

/// Returns the error message for these options, or an empty string if they are valid.
std::string answer_to(const char* words) {
  auto options = MountOptions::parse(words);
  if (!options) return options.error().message();
  const auto plan = plan_mount(**adapters::find_file_system_type("ufs"), *options);
  if (!plan) return plan.error().message();
  const auto left = options->nothing_left();
  return left ? "" : left.error().message();
}

TEST(MountOptions, RejectsInvalidOptions) {
  EXPECT_EQ(answer_to(""), "");
  EXPECT_EQ(answer_to("scheme=chains-barrier-cb,,force"), "");
  EXPECT_NE(answer_to("scheme=soft-update").find("did you mean \"soft-updates\"?"),
            std::string::npos);
  EXPECT_NE(answer_to("shceme=chains").find("did you mean \"scheme\"?"), std::string::npos);
  EXPECT_NE(answer_to("scheme").find("-o scheme: has no value"), std::string::npos);
  EXPECT_NE(answer_to("force=1").find("-o force: does not take a value"), std::string::npos);
  EXPECT_NE(answer_to("force,force").find("-o force: is given twice"), std::string::npos);
  EXPECT_NE(answer_to("=x").find("has no name"), std::string::npos);
}

TEST(MountOptions, ParsesSizes) {
  auto options = MountOptions::parse("cache=8M,small=x");
  ASSERT_TRUE(options);
  std::uint64_t bytes = 1;
  EXPECT_TRUE(options->take_size("missing", bytes));
  EXPECT_EQ(bytes, 1U);
  EXPECT_TRUE(options->take_size("cache", bytes));
  EXPECT_EQ(bytes, 8U << 20);
  EXPECT_FALSE(options->take_size("small", bytes));
}

}  // namespace
}  // namespace headcrash::fuse
