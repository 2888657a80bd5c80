// Tests how the harness reads an image directory that build-guest has made. A query must not build
// anything.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "harness/vm/guest.h"

namespace headcrash::vm {
namespace {

namespace fs = std::filesystem;

class GuestImageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "headcrash-image-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<GuestImage> described(const std::string& info) {
    std::ofstream(folder_ / "info.json") << info;
    return guest_image_in(folder_);
  }

  fs::path folder_;
};

TEST_F(GuestImageTest, ReadsTheDescriptionInAFolder) {
  const auto image =
      described(R"({"kernel_version": "6.1.0-9-amd64", "package": "6.1.0-9-amd64", "key": "abc"})");
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_EQ(image->kernel, folder_ / "vmlinuz");
  EXPECT_EQ(image->initramfs, folder_ / "initramfs");
  EXPECT_EQ(image->kernel_version, "6.1.0-9-amd64");
  EXPECT_EQ(image->key, "abc");
  EXPECT_FALSE(image->user_mode);
}

TEST_F(GuestImageTest, UserModeHasASeparateKernel) {
  const auto image = described(
      R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true, "edits": ["clock-1ns", "exit-kill", "spin"]})");
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_EQ(image->kernel, folder_ / "linux");
  EXPECT_TRUE(image->user_mode);
}

TEST_F(GuestImageTest, RejectsUserModeWithoutRequiredEdits) {
  for (
      const char* info :
      {R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true, "edits": ["clock-1ns", "spin"]})",
       R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true, "edits": []})",
       R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true, "edits": "exit-kill"})",
       R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true})"}) {
    const auto image = described(info);
    ASSERT_FALSE(image) << info;
    EXPECT_NE(image.error().message().find("exit-kill"), std::string::npos)
        << image.error().message();
  }
  const auto image = described(
      R"({"kernel_version": "6.1.9-uml", "key": "abc", "uml": true, "edits": ["exit-kill"]})");
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message().find("edit spin"), std::string::npos)
      << image.error().message();
}

TEST_F(GuestImageTest, RejectsFoldersWithoutAValidDescription) {
  EXPECT_FALSE(guest_image_in(folder_));  // the directory has no files
  for (const char* info : {"", "[1]", "{}", R"({"key": "abc"})",
                           R"({"kernel_version": 6, "key": "abc"})", R"({"kernel_version")"}) {
    const auto image = described(info);
    ASSERT_FALSE(image) << info;
    EXPECT_NE(image.error().message().find("does not describe a guest"), std::string::npos)
        << image.error().message();
  }
}

TEST_F(GuestImageTest, QueriesDoNotBuildAnImage) {
  const fs::path cache = folder_ / "cache";
  for (const Accelerator accelerator : {Accelerator::tcg, Accelerator::user_mode}) {
    const auto image = built_guest_image(cache, accelerator);
    if (image) {
      EXPECT_FALSE(*image) << name(accelerator);
    } else {  // the agent or a program is missing on this host
      EXPECT_NE(image.error().problem.find("cannot be built: "), std::string::npos)
          << image.error().message();
    }
    EXPECT_FALSE(fs::exists(cache)) << name(accelerator);
  }
}

}  // namespace
}  // namespace headcrash::vm
