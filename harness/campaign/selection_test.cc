// Tests which trials belong to a selected part of a campaign. The part's digest must differ from
// the campaign's, so that --resume does not confuse their runs.
#include "harness/campaign/selection.h"

#include <gtest/gtest.h>

namespace headcrash::campaign {
namespace {

TEST(Selection, RestrictsACampaignWithPowerCuts) {
  Campaign campaign = load_campaign("demo").value();
  const std::string whole = campaign_digest(campaign);
  ASSERT_TRUE(keep_selection(campaign, {.filesystems = {"xfs"}, .trials = 2}));
  const TrialPlans plans(campaign);
  ASSERT_EQ(plans.size(), 2);
  EXPECT_EQ(plans[0].filesystem->name, "xfs");
  EXPECT_EQ(plans[1].key, TrialPlans(load_campaign("demo").value()).find(plans[1].key)->key)
      << "the selection's trials are those of the campaign";
  EXPECT_NE(campaign_digest(campaign), whole) << "--resume could confuse the runs";
  EXPECT_TRUE(parse_campaign(campaign.text, "demo")) << "the stored text is a valid campaign";
}

TEST(Selection, AFileSystemSelectsAllItsKernels) {
  Campaign campaign = load_campaign("demo", {"6.1", "7.3"}).value();
  EXPECT_EQ(TrialPlans(campaign).size(), 2 * TrialPlans(load_campaign("demo").value()).size());
  EXPECT_EQ(TrialPlans(parse_campaign(campaign.text, "demo").value()).size(),
            TrialPlans(campaign).size())
      << "the stored text includes the kernels";
  ASSERT_TRUE(keep_selection(campaign, {.filesystems = {"xfs"}, .trials = 1}));
  std::vector<std::string> names;
  for (const adapters::LinuxAdapter& each : campaign.filesystems) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"xfs@6.1", "xfs@7.3"}));
  ASSERT_TRUE(keep_selection(campaign, {.filesystems = {"xfs@7.3"}, .trials = {}}));
  ASSERT_EQ(campaign.filesystems.size(), 1U);
  EXPECT_EQ(campaign.filesystems[0].guest.kernel, "7.3");
}

TEST(Selection, RestrictsAnExplorationCampaign) {
  Campaign campaign = load_campaign("seq1-all").value();
  const std::string name = campaign.explore->cells.front().filesystem.name;
  ASSERT_TRUE(keep_selection(campaign, {.filesystems = {name}, .trials = 3}));
  for (const ExploredCell& cell : campaign.explore->cells) EXPECT_EQ(cell.filesystem.name, name);
  EXPECT_EQ(TrialPlans(campaign).size(), 3 * campaign.explore->cells.size());
}

TEST(Selection, ChangesNothingIfEmptyAndRejectsUnknownNames) {
  Campaign campaign = load_campaign("demo").value();
  const std::string whole = campaign_digest(campaign);
  ASSERT_TRUE(keep_selection(campaign, {}));
  EXPECT_EQ(campaign_digest(campaign), whole);
  const auto refused = keep_selection(campaign, {.filesystems = {"ext5"}, .trials = {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("did you mean \"ext4\""), std::string::npos)
      << refused.error().message();
}

}  // namespace
}  // namespace headcrash::campaign
