#include "harness/campaign/campaign_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::campaign {
namespace {

TEST(Campaign, LoadsEveryBuiltInCampaign) {
  EXPECT_EQ(built_in_campaigns().size(), 20u) << "a campaign is invalid, or new";
  for (const CampaignSummary& summary : built_in_campaigns())
    EXPECT_TRUE(load_campaign(summary.name)) << summary.name;
}

TEST(Campaign, AlternatesBetweenCells) {
  const Campaign demo = load_campaign("demo").value();
  const TrialPlans plans(demo);
  ASSERT_EQ(plans.size(), 15u);
  EXPECT_EQ(plans[0].key, "ext4/hp-c2447/small-files/1");
  EXPECT_EQ(plans[1].key, "xfs/hp-c2447/small-files/1");
  std::set<std::uint64_t> seeds;
  for (std::size_t i = 0; i < plans.size(); ++i) seeds.insert(plans[i].seed);
  EXPECT_EQ(seeds.size(), plans.size());
  ASSERT_TRUE(plans.find(plans[7].key));
  EXPECT_EQ(plans.find(plans[7].key)->seed, plans[7].seed);
  EXPECT_FALSE(plans.find("ext4/hp-c2447/small-files/6"));
}

TEST(Campaign, TheDigestChangesWithTheTextAndSettings) {
  Campaign demo = load_campaign("demo").value();
  const std::string before = campaign_digest(demo);
  EXPECT_EQ(before, campaign_digest(load_campaign("demo").value()));
  demo.filesystems[0].mount_options = "nobarrier";
  EXPECT_NE(before, campaign_digest(demo));
  demo = load_campaign("demo").value();
  demo.text += " ";
  EXPECT_NE(before, campaign_digest(demo));
}

class CampaignWithABase : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(CampaignWithABase, InheritsUnsetKeys) {
  write(
      "base.toml",
      "filesystems = ['ext4', 'xfs']\ntrials = 3\n[device]\nprofiles = ['hp-c2447']\nsize = '400M'");
  const Result<Campaign> mine = load_campaign(
      write("mine.toml", "base = './base.toml'\ntrials = 7\n[device]\nsize = '320M'"));
  ASSERT_TRUE(mine) << mine.error().message();
  EXPECT_EQ(mine->name, "mine");
  EXPECT_EQ(mine->filesystems.size(), 2u);
  EXPECT_EQ(mine->trials, 7);
  EXPECT_EQ(mine->size_bytes, std::uint64_t{320} << 20);
  const Result<Campaign> again = parse_campaign(mine->text, "mine.toml");
  ASSERT_TRUE(again) << "the stored text needs no base: " << again.error().message();
  EXPECT_EQ(campaign_digest(*again), campaign_digest(*mine));
}

TEST_F(CampaignWithABase, RejectsAMissingOrCircularBase) {
  const Result<Campaign> none = load_campaign(write("none.toml", "base = 'control'"));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("none.toml: base"), std::string::npos)
      << none.error().message();
  EXPECT_NE(none.error().message().find("\"controls\""), std::string::npos)
      << none.error().message();
  const Result<Campaign> circle = load_campaign(write("circle.toml", "base = 'circle.toml'"));
  ASSERT_FALSE(circle);
  EXPECT_NE(circle.error().message().find("is circular"), std::string::npos)
      << circle.error().message();
}

TEST(Campaign, DeepControlsEqualControlsWithMoreStates) {
  const Campaign controls = load_campaign("controls").value(),
                 deep = load_campaign("controls-deep").value();
  ASSERT_EQ(controls.explore->cells.size(), deep.explore->cells.size());
  for (std::size_t i = 0; i < controls.explore->cells.size(); ++i) {
    const ExploredCell &one = controls.explore->cells[i], &ten = deep.explore->cells[i];
    EXPECT_EQ(one.filesystem.name, ten.filesystem.name);
    EXPECT_EQ(static_cast<std::int64_t>(workloads_of(one, 1).count) * one.budget, 500);
    EXPECT_EQ(static_cast<std::int64_t>(workloads_of(ten, 1).count) * ten.budget, 5000);
  }
}

// The kernel uses only one copy of the superblock on ext4 and btrfs, so it may refuse to mount a
// disk whose superblock is torn. (On ext4, e2fsck would repair the superblock.) The campaign
// linux-holes.toml must therefore not tear superblocks where the kernel alone recovers the disk.
TEST(Campaign, LinuxHolesOmitsTornStatesThatTheKernelRefuses) {
  const Campaign holes = load_campaign("linux-holes").value();
  int without = 0, known = 0;
  for (const ExploredCell& cell : holes.explore->cells) {
    const bool refused =
        cell.filesystem.name == "ext4-kernel-replay" ||
        (cell.filesystem.name == "btrfs" && cell.workload == "freed-blocks-reused");
    without += refused ? 1 : 0;
    EXPECT_EQ(std::ranges::count(cell.strategies, "torn"), refused ? 0 : 1)
        << cell_name(cell) << " " << cell.workload;
    known += cell.control == Control::lose ? 1 : 0;
    EXPECT_TRUE(cell.control == Control::lose || cell.control == Control::keep) << cell_name(cell);
  }
  EXPECT_EQ(without, 3);
  EXPECT_EQ(known, 5) << "defects of Linux 6.1";
}

TEST(Campaign, VirtualTimeSetsTheClock) {
  const std::string text =
      "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[guest]\nkind = 'virtual'\n";
  const auto campaign = parse_campaign(text, "mine.toml");
  ASSERT_TRUE(campaign) << campaign.error().message();
  EXPECT_TRUE(campaign->virtual_time);
  EXPECT_EQ(campaign->clock, "virtual");
  const auto rested = parse_campaign(text + "[cut]\nstart-s = 60\n", "mine.toml");
  ASSERT_FALSE(rested);
  EXPECT_NE(rested.error().message().find("cut.start-s"), std::string::npos)
      << rested.error().message();
  const auto explores =
      parse_campaign("filesystems = ['ext4']\n[explore]\n[guest]\nkind = 'virtual'\n", "mine.toml");
  ASSERT_TRUE(explores) << explores.error().message();
  EXPECT_TRUE(explores->virtual_time);
}

struct BadCampaign {
  const char* text;
  const char* word;  ///< a word that the error message must contain
};
class BadCampaignText : public testing::TestWithParam<BadCampaign> {};

TEST_P(BadCampaignText, ReportsOneErrorWithFileAndKey) {
  const Result<Campaign> campaign = parse_campaign(GetParam().text, "mine.toml");
  ASSERT_FALSE(campaign);
  const std::string message = campaign.error().message();
  EXPECT_NE(message.find("mine.toml"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().word), std::string::npos) << message;
}

constexpr const char* kDevice = "[device]\nprofiles = ['hp-c2447']\n";

INSTANTIATE_TEST_SUITE_P(
    Texts, BadCampaignText,
    testing::Values(
        BadCampaign{"filesystem = ['ext4']", "did you mean \"filesystems\""},
        BadCampaign{"filesystems = ['ext4']", "device.profiles"},
        BadCampaign{"filesystems = ['ext4-nobarier']\n[device]\nprofiles = ['hp-c2447']",
                    "did you mean \"ext4-nobarrier\""},
        BadCampaign{"filesystems = ['xfs']\n[device]\nprofiles = ['hp-c2447']\nsize = '64M'",
                    "device.size"},
        BadCampaign{"filesystems = ['ext4+read-only-first']\n[device]\nprofiles = ['hp-c2447']",
                    "mounted twice after a cut"},
        BadCampaign{"filesystems = ['ext4', 'ext4']\n[device]\nprofiles = ['hp-c2447']", "twice"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nclock = 'fast'",
                    "device.clock"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nclock = 'real:abc'",
                    "device.clock"},
        BadCampaign{"filesystems = ['ext4']\ntrials = 0\n[device]\nprofiles = ['hp-c2447']",
                    "trials"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[cut]\nafter-persistence-ms = [9, 1]",
            "after-persistence-ms"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[workload]\nname = 'big-files'",
            "workload.name"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[workload]\nname = 'ace-seq1/9999'",
            "workload.name"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[workload]\nfill = '2G'",
            "workload.fill"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2448']", "hp-c2447"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447', 'hp-c2447']",
                    "two profiles"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nsize = '90G'",
                    "device.size"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nfaults = ['lost-wrote:hd0']",
            "device.faults"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\ntear = 'unreadble'",
                    "device.tear: unknown tear \"unreadble\"; did you mean \"unreadable\""},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\ntear = ''",
                    "device.tear"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\ntear = true",
                    "device.tear"},
        BadCampaign{"filesystems = ['ext4']\n[device]\ntear = 'any'\n[explore]", "device.tear"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nsize = '0'",
                    "device.size"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nsize = 1000",
                    "device.size"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nsize = 1000\n[explore]", "device.size"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[cut]\n"
                    "after-persistence-ms = [nan, nan]",
                    "after-persistence-ms"},
        BadCampaign{"filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[cut]\n"
                    "after-unmount = true\nafter-persistence-ms = [0, 1]",
                    "cut.after-unmount"},
        BadCampaign{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\nclock = 'off'\n[cut]\nstart-s = 1",
            "cut.start-s"},
        BadCampaign{"filesystems = ['ext4'\n", "mine.toml:"}));

TEST(Campaign, TearOverridesTheProfilesSetting) {
  const std::string text = "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n";
  EXPECT_FALSE(parse_campaign(text, "mine.toml")->device_options.tear)
      << "the profile's setting applies";
  for (const std::string word : {"silent", "any", "unreadable"}) {
    const auto campaign = parse_campaign(text + "tear = '" + word + "'", "mine.toml");
    ASSERT_TRUE(campaign) << campaign.error().message();
    EXPECT_EQ(campaign->device_options.tear, model::parse_tear(word));
  }
}

TEST(Campaign, TrialNumbersSelectEnumeratedWorkloads) {
  const Result<Campaign> campaign = parse_campaign(
      "filesystems = ['ext4']\ntrials = 3\n[device]\nprofiles = ['hp-c2447']\n[workload]\nname = 'ace-seq1'",
      "mine.toml");
  ASSERT_TRUE(campaign) << campaign.error().message();
  ASSERT_EQ(TrialPlans(*campaign).size(), 3u);
  EXPECT_EQ(TrialPlans(*campaign)[2].number, 2u);
  EXPECT_EQ(TrialPlans(*campaign)[2].key, "ext4/hp-c2447/ace-seq1/3");
}

TEST(Campaign, RejectsUnknownNamesAndFiles) {
  EXPECT_NE(load_campaign("demoo").error().message().find("did you mean \"demo\""),
            std::string::npos);
  EXPECT_NE(load_campaign("no/such.toml").error().message().find("no/such.toml"),
            std::string::npos);
  EXPECT_FALSE(parse_campaign(std::string(kDevice) + "x = 1", "mine.toml"));
}

}  // namespace
}  // namespace headcrash::campaign
