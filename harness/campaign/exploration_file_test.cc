#include "harness/campaign/exploration_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "harness/campaign/campaign_file.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::campaign {
namespace {

Campaign campaign_of(const std::string& text) {
  const Result<Campaign> campaign = parse_campaign(text, "mine.toml");
  if (!campaign) throw std::runtime_error(campaign.error().message());
  return *campaign;
}

constexpr const char* kWithControls = R"(
filesystems = ["ext4"]
trials = 3
[device]
size = "320M"
[explore]
strategies = ["prefix", "lose-all"]
budget = 100
in-guest-share = 0.5
[[controls]]
filesystem = "ext4-nobarrier"
trials = 1
[[controls]]
filesystem = "xfs"
must = "lose"
write-cache = "write through"
strategies = ["lose-all"]
budget = 7
workload = "overwrite"
operations = """
create f
write f 0 4096 1 1
fsync f
"""
)";

TEST(Exploration, FailuresAreMinimisedUnlessDisabled) {
  EXPECT_TRUE(campaign_of("filesystems = ['ext4']\n[explore]\n").explore->minimise_operations);
  EXPECT_FALSE(campaign_of("filesystems = ['ext4']\n[explore]\nminimise-operations = false\n")
                   .explore->minimise_operations);
}

TEST(Exploration, ControlsComeFirstAndInheritFromTheCampaign) {
  const Campaign campaign = campaign_of(kWithControls);
  ASSERT_TRUE(campaign.explore);
  const auto& cells = campaign.explore->cells;
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].filesystem.name, "ext4-nobarrier");
  EXPECT_EQ(cells[0].control, Control::lose) << "from its adapter";
  EXPECT_EQ(cells[0].budget, 100);
  EXPECT_EQ(cells[0].strategies, (std::vector<std::string>{"prefix", "lose-all"}));
  EXPECT_EQ(variant(cells[0]), "");
  EXPECT_EQ(cells[1].control, Control::lose);
  EXPECT_TRUE(cells[1].write_through);
  EXPECT_EQ(cells[1].budget, 7);
  EXPECT_EQ(variant(cells[1]), "write-through+lose-all");
  EXPECT_FALSE(cells[2].control);
  EXPECT_EQ(cells[2].trials, 3);
}

TEST(Exploration, EachCellIsCombinedWithEachKernel) {
  const Campaign campaign = campaign_of(
      "kernels = [\"6.1\", \"7.3\"]\n" + std::string(kWithControls) +
      "[[controls]]\nfilesystem = \"reiserfs\"\nmust = \"any\"\nkernels = [\"6.12\"]\n");
  std::vector<std::string> names;
  for (const ExploredCell& cell : campaign.explore->cells) names.push_back(cell.filesystem.name);
  EXPECT_EQ(names, (std::vector<std::string>{"ext4-nobarrier@6.1", "ext4-nobarrier@7.3", "xfs@6.1",
                                             "xfs@7.3", "reiserfs@6.12", "ext4@6.1", "ext4@7.3"}));
  EXPECT_FALSE(campaign.explore->cells[4].control) << "a cell without an expectation";
  std::set<std::string> guests;
  for (const adapters::LinuxAdapter* each : filesystems_of(campaign)) guests.insert(each->name);
  EXPECT_EQ(guests, std::set<std::string>(names.begin(), names.end()))
      << "one guest image per kernel";
  const auto refused =
      parse_campaign("kernels = [\"new\"]\n" + std::string(kWithControls), "mine.toml");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("mine.toml: "), std::string::npos)
      << refused.error().message();
  EXPECT_NE(refused.error().message().find("6.12"), std::string::npos) << refused.error().message();
}

TEST(Exploration, AnApplicationReplacesTheWorkload) {
  const std::string head = "filesystems = [\"ext4\"]\ntrials = 2\n[explore]\nbudget = 9\n";
  const Campaign campaign =
      campaign_of(head +
                  "[workload]\napplication = \"sqlite\"\n"
                  "[[controls]]\nfilesystem = \"ext4\"\nmust = \"lose\"\n"
                  "application = \"sqlite+wal-off\"\n[[controls]]\nfilesystem = \"ext4\"\n"
                  "workload = \"append-log\"\n");
  const auto& cells = campaign.explore->cells;
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].application->name, "sqlite+wal-off");
  EXPECT_EQ(cells[0].workload, "sqlite+wal-off");
  EXPECT_FALSE(cells[1].application) << "the control has a separate workload";
  EXPECT_EQ(cells[2].application->origin, "sqlite+wal-full");
  EXPECT_EQ(TrialPlans(campaign).size(), 6U);
  for (
      const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
          {head + "[workload]\napplication = \"sqlit\"\n", "workload.application"},
          {head + "[workload]\napplication = \"sqlite\"\nname = \"random\"\n",
           "combined with another workload"},
          {"filesystems = [\"ext4\"]\ntrials = \"all\"\n[explore]\n[workload]\napplication = \"sqlite\"\n",
           "has no fixed number of workloads"},
          {"filesystems = [\"ext4\"]\n[device]\nprofiles = [\"hp-c2447\"]\nsize = \"64M\"\n[workload]\n"
           "application = \"sqlite\"\n",
           "add [explore]"}}) {
    const auto read = parse_campaign(text, "mine.toml");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message().find(part), std::string::npos) << read.error().message();
  }
}

TEST(Exploration, ApplicationsAndTheirSettingsAreSeparateCells) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4', 'xfs']\ntrials = 1\n[device]\nsize = '320M'\n[explore]\nbudget = 9\n"
      "[workload]\napplication = ['git', 'lmdb+*']\n"
      "[[controls]]\nfilesystem = 'ext4-nobarrier'\napplication = ['git', 'lmdb']\n"
      "[[controls]]\nfilesystem = 'btrfs'\nmust = 'damage'\napplication = 'lmdb+nosync'\n");
  std::map<std::string, std::optional<Control>> cells;
  for (const ExploredCell& cell : campaign.explore->cells)
    cells[cell.filesystem.name + " " + cell.workload] = cell.control;
  EXPECT_EQ(campaign.explore->cells.size(), 15U);
  EXPECT_EQ(cells.at("ext4-nobarrier git+committed"), Control::lose);
  EXPECT_EQ(cells.at("ext4-nobarrier lmdb+default"), Control::lose);
  EXPECT_EQ(cells.at("xfs lmdb+nosync"), Control::lose) << "promises nothing with this setting";
  EXPECT_EQ(cells.at("btrfs lmdb+nosync"), Control::damage) << "set in the file";
  EXPECT_FALSE(cells.at("xfs lmdb+default"));
  EXPECT_FALSE(cells.at("xfs git+committed"));
  const auto guests = guests_of(campaign);
  EXPECT_EQ(guests.size(), 7U) << "guests with and without LMDB's packages; btrfs only with them";
  std::size_t with_packages = 0;
  for (const auto& [name, parts] : guests) with_packages += parts.packages.empty() ? 0 : 1;
  EXPECT_EQ(with_packages, 4U);
  for (const ExploredCell& cell : campaign.explore->cells)
    EXPECT_EQ(guests.at(guest_of(cell.filesystem)).packages, cell.application->packages);
}

TEST(Exploration, AddsAnApplicationsProgramsOnlyToItsGuest) {
  const TemporaryFolder folder;
  const std::string program = folder / "prog", file = folder / "mine.toml";
  std::ofstream(program) << "#!/bin/sh\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::ofstream(file) << "tools = ['./prog', 'sh']\nrun = ['prog']\nverify = ['prog']\n";
  const Campaign campaign =
      campaign_of("filesystems = ['ext4']\n[explore]\n[workload]\napplication = '" + file +
                  "'\n[[controls]]\nfilesystem = 'ext4-nobarrier'\nworkload = 'small-files'\n");
  const auto guests = guests_of(campaign);
  ASSERT_EQ(campaign.explore->cells.size(), 2U);
  ASSERT_EQ(guests.size(), 2U);
  for (const ExploredCell& cell : campaign.explore->cells) {
    const std::vector<std::string> expected =
        cell.application ? std::vector{program} : std::vector<std::string>{};
    EXPECT_EQ(guests.at(guest_of(cell.filesystem)).application_tools, expected);
  }
}

TEST(Exploration, CellsCanUseAnyWorkloadOfTheFile) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4']\n[explore]\n[workload]\nname = 'two'\n"
      "[workloads]\none = 'sync'\ntwo = 'syncfs'\n"
      "[[controls]]\nfilesystem = 'ext4-nobarrier'\nworkload = 'one'\n"
      "[[controls]]\nfilesystem = 'jfs'\nworkload = 'small-files'\n"
      "[[controls]]\nfilesystem = 'xfs'\nworkload = 'one'\noperations = \"create f\\nfsync f\"");
  const auto& cells = campaign.explore->cells;
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0].operations, "sync");
  EXPECT_EQ(cells[1].operations, "");
  EXPECT_EQ(cells[2].operations, "create f\nfsync f")
      << "the cell's own operations take precedence";
  EXPECT_EQ(cells[3].operations, "syncfs");
}

TEST(Exploration, KeysIdentifyFileSystemVariantAndWorkload) {
  const Campaign campaign = campaign_of(kWithControls);
  const TrialPlans plans(campaign);
  std::set<std::string> keys;
  for (std::size_t i = 0; i < plans.size(); ++i) keys.insert(plans[i].key);
  ASSERT_EQ(keys.size(), 5U);
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_TRUE(plans[0].key.starts_with("ext4-nobarrier/stage/ace-seq1/")) << plans[0].key;
  EXPECT_EQ(plans[1].key, "xfs+write-through+lose-all/stage/overwrite");
  EXPECT_TRUE(plans[2].key.starts_with("ext4/stage/ace-seq1/")) << plans[2].key;
  EXPECT_EQ("ext4/stage/" + plans[2].workload, plans[2].key);
}

TEST(Exploration, AllTrialsCoverEachNumberedWorkloadOnce) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4']\ntrials = 'all'\n[explore]\nbudget = 5\n[workload]\nname = 'ace-seq1'");
  const TrialPlans plans(campaign);
  EXPECT_GT(plans.size(), 100U);
  std::set<std::string> workloads;
  for (std::size_t i = 0; i < plans.size(); ++i) workloads.insert(plans[i].workload);
  EXPECT_EQ(workloads.size(), plans.size());
  EXPECT_TRUE(workloads.contains("ace-seq1/0"));
}

TEST(Exploration, SeededWorkloadsAreNumberedByTrial) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4']\ntrials = 2\n[explore]\nbudget = 5\n[workload]\nname = 'small-files'");
  const TrialPlans plans(campaign);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[1].key, "ext4/stage/small-files/2");
  EXPECT_EQ(plans[1].workload, "small-files");
  EXPECT_NE(plans[0].seed, plans[1].seed);
}

TEST(Exploration, TheDigestCoversControls) {
  Campaign campaign = campaign_of(kWithControls);
  const std::string before = campaign_digest(campaign);
  campaign.explore->cells[1].filesystem.mount_options = "discard";
  EXPECT_NE(campaign_digest(campaign), before);
}

TEST(Exploration, TheDigestCoversTheApplicationsText) {
  Campaign campaign = campaign_of(
      "filesystems = ['ext4']\ntrials = 1\n[explore]\nbudget = 5\n[workload]\napplication = 'sqlite+wal-off'");
  ASSERT_TRUE(campaign.explore->cells[0].application);
  const std::string before = campaign_digest(campaign);
  campaign.explore->cells[0].application->verify.push_back({.words = {"true"}});
  EXPECT_NE(campaign_digest(campaign), before);
}

struct BadText {
  const char* text;
  const char* word;  ///< a word that the error message must contain
};
class BadExploration : public testing::TestWithParam<BadText> {};

TEST_P(BadExploration, ReportsOneErrorWithFileAndKey) {
  const Result<Campaign> campaign = parse_campaign(GetParam().text, "mine.toml");
  ASSERT_FALSE(campaign);
  const std::string message = campaign.error().message();
  EXPECT_NE(message.find("mine.toml"), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().word), std::string::npos) << message;
}

TEST(Exploration, SupportsFileSystemsWithALogOnASecondDisk) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4-external-journal']\n[device]\nsize = '64M'\n[explore]\n"
      "[[controls]]\nfilesystem = 'ext4-external-journal-nobarrier'");
  ASSERT_TRUE(campaign.explore);
  ASSERT_EQ(campaign.explore->cells.size(), 2U);
  EXPECT_EQ(campaign.explore->cells[0].control, Control::lose) << "from its adapter";
  for (const ExploredCell& cell : campaign.explore->cells)
    EXPECT_EQ(cell.filesystem.log_size_bytes, 16U << 20) << cell.filesystem.name;
}

TEST(Exploration, DividesTheStatesOfACellAmongItsWorkloads) {
  const Campaign campaign = campaign_of(
      "filesystems = ['ext4']\ntrials = 3\n[explore]\nstates = 100\n[workloads]\none = 'sync'\n"
      "[[controls]]\nfilesystem = 'xfs'\nmust = 'keep'\nworkload = 'one'\n"
      "[[controls]]\nfilesystem = 'jfs'\nbudget = 7\n"
      "[[controls]]\nfilesystem = 'ext4-nobarrier'\nstates = 6\n");
  const auto& cells = campaign.explore->cells;
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0].budget, 100) << "a fixed list is one workload";
  EXPECT_EQ(cells[1].budget, 7);
  EXPECT_EQ(cells[2].budget, 2);
  EXPECT_EQ(cells[3].budget, 34);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadExploration,
    testing::Values(
        BadText{"filesystems = ['ext4']\n[explore]\nstrategies = ['reoder']",
                "did you mean \"reorder\""},
        BadText{"filesystems = ['ext4']\n[explore]\nstrategies = ['member']", "explore.strategies"},
        BadText{"filesystems = ['ext4']\n[explore]\nstrategies = ['prefix', 'prefix']", "twice"},
        BadText{"filesystems = ['ext4']\n[explore]\nbudget = 0", "explore.budget"},
        BadText{"filesystems = ['ext4']\n[explore]\nbudget = 5\nstates = 50",
                "cannot be combined with 'states'"},
        BadText{"filesystems = ['ext4']\n[explore]\nin-guest-share = 2", "explore.in-guest-share"},
        BadText{"filesystems = ['ext4']\n[explore]\nconfirm = 'all'", "explore.confirm"},
        BadText{"filesystems = ['ext4']\n[explore]\nminimise-operations = 1",
                "explore.minimise-operations"},
        BadText{"filesystems = ['ext4']\n[explore]\nbudgets = 5", "did you mean \"budget\""},
        BadText{"filesystems = ['ext4']\n[explore]\n[device]\nprofiles = ['hp-c2447']",
                "device.profiles"},
        BadText{"filesystems = ['ext4']\n[explore]\n[device]\nfaults = ['dead:hd0.1']",
                "requires an array"},
        BadText{"filesystems = ['ext4']\n[explore]\n[cut]\nafter-persistence-ms = [0, 1]", "cut"},
        BadText{"filesystems = ['ext4']\ntrials = 'some'\n[explore]", "\"some\" is not a number"},
        BadText{"filesystems = ['ext4']\ntrials = 'all'\n[explore]\n[workload]\nname = 'random'",
                "workload.trials"},
        BadText{"filesystems = ['ext4']\ntrials = 999999\n[explore]\n[workload]\nname = 'ace-seq1'",
                "has only"},
        BadText{"filesystems = ['ext4']\n[explore]\n[workload]\noperations = 'creat f'",
                "workload.operations"},
        BadText{"filesystems = ['ext4']\n[explore]\n[workload]\noperations = 'create f'",
                "has no persistence point"},
        BadText{"filesystems = ['ext4']\n[explore]\n[workloads]\nmine = 'creat f'",
                "workloads.mine"},
        BadText{"filesystems = ['ext4']\n[explore]\n[workloads]\nmine = 'create f'",
                "has no persistence point"},
        BadText{"filesystems = ['ext4']\n[explore]\n[workloads]\nrandom = 'sync'",
                "of a built-in workload"},
        BadText{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[workloads]\nmine = 'sync'",
            "add [explore]"},
        BadText{"filesystems = ['ext4']\n[explore]\n[device]\nprefill = 'zeroes'",
                "device.prefill"},
        BadText{"filesystems = ['ext4']\n[explore]\n[guest]\nwrite-cache = 'off'",
                "guest.write-cache"},
        BadText{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[guest]\nwrite-cache = 'write "
            "through'",
            "guest.write-cache"},
        BadText{
            "filesystems = ['ext4']\n[device]\nprofiles = ['hp-c2447']\n[[controls]]\nfilesystem = 'ext4'",
            "controls"},
        BadText{"filesystems = ['ext4']\ncontrols = ['xfs']\n[explore]", "controls"},
        BadText{"[explore]\n[[controls]]\nmust = 'lose'", "controls[0].filesystem"},
        BadText{"[explore]\n[[controls]]\nfilesystem = 'ext5'", "controls[0].filesystem"},
        BadText{"[explore]\n[[controls]]\nfilesystem = 'ext4'\nmust = 'loose'",
                "did you mean \"lose\""},
        BadText{
            "[explore]\n[[controls]]\nfilesystem = 'ext4'\n[[controls]]\nfilesystem = 'ext4'\nfoo = 1",
            "controls[1].foo"},
        BadText{"[explore]\n[[controls]]\nfilesystem = 'ext4'\n[[controls]]\nfilesystem = 'ext4'",
                "twice"},
        BadText{
            "filesystems = ['ext4']\n[explore]\n[[controls]]\nfilesystem = 'xfs'\n[device]\nsize = '64M'",
            "device.size"},
        BadText{"[explore]\nbudget = 3", "filesystems"}));

constexpr const char* kOnArrays = R"(
filesystems = ["ext4"]
[device]
size = "320M"
profiles = ["raid5-5", "netra-raid5"]
faults = ["dead:hd0.2"]
[explore]
budget = 10
[[controls]]
filesystem = "ext4"
must = "lose"
device = "raid5-5-forced"
faults-after-cut = ["dead:hd0.1"]
)";

TEST(Exploration, CellsMayUseArraysInsteadOfADisk) {
  const Campaign campaign = campaign_of(kOnArrays);
  const auto& cells = campaign.explore->cells;
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[0].machine, (explorer::StageMachine{"raid5-5-forced", {}, {"dead:hd0.1"}}));
  EXPECT_EQ(cells[1].machine, (explorer::StageMachine{"raid5-5", {"dead:hd0.2"}, {}}));
  EXPECT_EQ(cells[2].machine, (explorer::StageMachine{"netra-raid5", {"dead:hd0.2"}, {}}));
  EXPECT_EQ(cells[2].strategies, (std::vector<std::string>{"member", "physical"}));
  const TrialPlans plans(campaign);
  EXPECT_TRUE(plans[0].key.starts_with("ext4+raid5-5-forced+after-cut:dead:hd0.1/stage/"))
      << plans[0].key;
  EXPECT_TRUE(plans[2].key.starts_with("ext4+netra-raid5+dead:hd0.2/stage/")) << plans[2].key;
}

TEST(Exploration, RejectsInvalidArrays) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = kOnArrays;
    text.replace(text.find(from), from.size(), to);
    const auto campaign = parse_campaign(text, "mine.toml");
    EXPECT_FALSE(campaign) << to;
    return campaign ? "" : campaign.error().message();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? "" : text;
  };
  EXPECT_EQ(has(refusal("\"raid5-5\"", "\"hp-c2447\""), "is a single drive, not an array"), "");
  EXPECT_EQ(has(refusal("\"raid5-5\"", "\"raid5-6\""), "raid5-6"), "");
  EXPECT_EQ(has(refusal("320M", "321M"), "whole stripes"), "");
  EXPECT_EQ(has(refusal("dead:hd0.2", "dead:hd0.20"), "there is no device"), "");
  EXPECT_EQ(has(refusal("dead:hd0.1", "dead"), "mine.toml"), "");
  EXPECT_EQ(has(refusal("budget = 10", "strategies = [\"prefix\"]"), "to the writes of one disk"),
            "");
  EXPECT_EQ(has(refusal("device = \"raid5-5-forced\"\n", ""),
                "is missing, but the campaign has 2 devices"),
            "");
  EXPECT_EQ(has(refusal("[\"ext4\"]", "[\"ext4-external-journal\"]"), "external log"), "");
}

constexpr const char* kOnStacks = R"(
kernels = ["6.1", "6.12", "7.3"]
[device]
size = "320M"
[explore]
strategies = ["prefix"]
states = 9
lying-flush-states = 20
[[controls]]
filesystem = "ext4:md-raid1"
must = "keep"
[[controls]]
filesystem = "ext4:md-raid0"
must = "damage"
only-kernels = ["7.3", "6.12"]
[[known]]
finding = "md-early-commit"
filesystems = ["ext4:md-raid1"]
kernels = ["6.12", "7.3"]
rule = "preflushed-on-all"
verdicts = ["stale-data"]
)";

TEST(Exploration, KnownFailuresApplyToTheirFileSystemsAndKernels) {
  std::map<std::string, std::size_t> known;
  const Campaign campaign = campaign_of(kOnStacks);
  for (const ExploredCell& cell : campaign.explore->cells)
    known[cell_name(cell)] = cell.known.size();
  EXPECT_EQ(known, (std::map<std::string, std::size_t>{{"ext4:md-raid0@6.12", 0},
                                                       {"ext4:md-raid0@7.3", 0},
                                                       {"ext4:md-raid1@6.1", 0},
                                                       {"ext4:md-raid1@6.1+lying-flush", 0},
                                                       {"ext4:md-raid1@6.12", 1},
                                                       {"ext4:md-raid1@7.3", 1}}));
}

TEST(Exploration, AStackGetsAControlWhoseDisksIgnoreFlushes) {
  const Campaign campaign = campaign_of(kOnStacks);
  const auto& cells = campaign.explore->cells;
  const auto lying =
      std::ranges::find(cells, std::vector<std::string>{"lying-flush"}, &ExploredCell::strategies);
  ASSERT_NE(lying, cells.end());
  EXPECT_EQ(lying->control, Control::lose);
  EXPECT_EQ(lying->states, 20);
}

TEST(Exploration, RejectsKnownFailuresThatCannotApply) {
  const std::string text = kOnStacks;
  for (const auto& [from, to, subject] :
       {std::array{"rule = \"preflushed-on-all\"", "rule = \"preflush\"", "rule"},
        std::array{"filesystems = [\"ext4:md-raid1\"]", "filesystems = [\"xfs\"]", "filesystems"},
        std::array{"\"stale-data\"", "\"stale\"", "verdicts"}}) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    const auto campaign = parse_campaign(wrong, "mine.toml");
    ASSERT_FALSE(campaign) << to;
    EXPECT_NE(campaign.error().subject.find(subject), std::string::npos)
        << campaign.error().message();
  }
}

}  // namespace
}  // namespace headcrash::campaign
