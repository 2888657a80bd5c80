// Tests that a file system has the same hue in every report, and that no file system has the
// reserved red.
#include "results/report/frame/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "results/report/frame/html.h"

namespace headcrash::report {
namespace {

TEST(Palette, GivesAFileSystemOneColourInEveryReport) {
  // The hues are fixed, so that reports of different years can be compared.
  const std::map<std::string, std::size_t> pinned = {
      {"ext4", 0},   {"xfs", 1}, {"btrfs", 2},  {"f2fs", 3}, {"nilfs2", 4},
      {"ext2", 5},   {"jfs", 6}, {"ext3", 9},   {"vfat", 8}, {"reiserfs", 7},
      {"snapfs", 9}, {"lfs", 4}, {"shadow", 10}};
  for (const auto& [name, colour] : pinned) EXPECT_EQ(filesystem_colour(name), colour) << name;
  EXPECT_EQ(filesystem_name("xfs"), "<span class=\"fs\"><i class=\"dot c1\"></i>xfs</span>");
  EXPECT_EQ(filesystem_colour("never heard of"), filesystem_colour("never heard of"));
}

TEST(Palette, DrawsAModeInItsFileSystemsColourWithAnotherShape) {
  for (const char* mode : {"ext4-nobarrier", "ext4 write-through", "ext4 (DAX)", "EXT4-journal"}) {
    EXPECT_EQ(filesystem_colour(mode), filesystem_colour("ext4")) << mode;
    EXPECT_TRUE(is_mode(mode)) << mode;
  }
  EXPECT_FALSE(is_mode("ext4"));
  EXPECT_FALSE(is_mode("ext4x")) << "another name, not a mode";
  EXPECT_FALSE(is_mode("ext44"));
  EXPECT_NE(filesystem_name("ext4-nobarrier").find("dot c0 mode"), std::string::npos);
  EXPECT_NE(filesystem_name("ext4", true).find("dot c0 mode"), std::string::npos);
}

TEST(Palette, RecognisesEveryNameOfAUfsScheme) {
  for (const char* name :
       {"Soft Updates", "soft-updates +init", "ufs-soft-updates", "UFS Soft Updates, init"})
    EXPECT_EQ(filesystem_colour(name), filesystem_colour("soft-updates")) << name;
  EXPECT_EQ(filesystem_colour("scheduler-chains tracked-cb"), filesystem_colour("Chains"));
  std::map<std::size_t, std::string> taken;
  for (const char* name :
       {"conventional", "flag", "chains", "soft-updates", "no-order", "journal", "netra"})
    EXPECT_TRUE(taken.emplace(filesystem_colour(name), name).second) << name;
}

TEST(Palette, UsesNoRedOrGreyForFileSystems) {
  for (const Tone& tone : kFilesystemColours) {
    for (const std::string_view hex : {tone.light, tone.dark}) {
      unsigned r = 0, g = 0, b = 0;
      ASSERT_EQ(std::sscanf(std::string(hex).c_str(), "#%2x%2x%2x", &r, &g, &b), 3);
      EXPECT_GT(std::max({r, g, b}) - std::min({r, g, b}), 40U)
          << hex << " is too close to the grey of kept outcomes";
      const bool red = r > 2 * g && r > 2 * b;
      EXPECT_FALSE(red && g < 0x50) << hex << " is too close to the red of losses";
    }
  }
}

}  // namespace
}  // namespace headcrash::report
