// Tests the names of the campaigns and the numbering of their trials.
#include "harness/campaign/schemes/schemes_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/explorer/in_process/io_errors.h"
#include "harness/workload/ace.h"
#include "harness/workload/families.h"

namespace headcrash::campaign {
namespace {

SchemesPlan plan_of(std::string_view name, const run::Shard& shard = {}) {
  const auto campaign = parse_schemes_campaign(name);
  EXPECT_TRUE(campaign) << name;
  auto plan = SchemesPlan::create(*campaign, shard);
  EXPECT_TRUE(plan) << plan.error().message();
  return *std::move(plan);
}

TEST(SchemesPlan, ParsesCampaignNames) {
  EXPECT_FALSE(parse_schemes_campaign("demo"));
  EXPECT_FALSE(parse_schemes_campaign("ufs-schemesque"));
  EXPECT_FALSE(parse_schemes_campaign("zfs-schemes"));
  for (const adapters::FileSystemType* const type : adapters::file_system_types())
    EXPECT_EQ(parse_schemes_campaign(std::string(type->name()) + "-schemes")->type, type);
  const auto one = parse_schemes_campaign("ufs-schemes/part-nr/ace-seq2/133787");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->scheme, "part-nr");
  EXPECT_EQ(one->workload, "ace-seq2/133787");
  const SchemesPlan plan = plan_of("ufs-schemes/part-nr/ace-seq2/133787");
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan.at(0).key(), "ufs-part-nr/ace-seq2/133787");
  const auto unknown = SchemesPlan::create({.scheme = "part-rn"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("part-nr"), std::string::npos);
}

TEST(SchemesPlan, RunsAControlWithItsDetectingWorkloadInOneShard) {
  std::multiset<std::string> controls;
  std::multiset<std::string> all;
  for (const std::uint64_t index : {0, 1, 2}) {
    const SchemesPlan plan = plan_of("lfs-schemes", {.index = index, .count = 3});
    for (std::uint64_t i = 0; i < plan.size(); ++i) {
      all.insert(plan.at(i).key());
      if (plan.at(i).system->control()) controls.insert(plan.at(i).key());
    }
  }
  const SchemesPlan whole = plan_of("lfs-schemes");
  EXPECT_EQ(all.size(), whole.size());
  for (const auto& system : (*adapters::find_file_system_type("lfs"))->systems()) {
    const std::string& workload = system->description().shown_by;
    EXPECT_EQ(system->control(), !workload.empty());
    if (!workload.empty()) {
      EXPECT_EQ(controls.count(system->full_name() + "/" + workload), 1U) << workload;
    }
  }
  EXPECT_EQ(plan_of("lfs-schemes/old-log/histories").size(), 4 * 12U + 4 * 6U + 4 * 6U)
      << "an explicit selection has all workloads";
  const SchemesPlan none = plan_of("lfs-schemes/old-log");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none.at(0).key(), "lfs-old-log/histories/0@used");
}

TEST(SchemesPlan, RunsSeq1AllFamiliesAndPartOfSeq2WithEachScheme) {
  const auto systems = adapters::file_system_types().front()->systems();
  // A control with a nonempty `shown_by` runs with only that workload.
  const std::uint64_t schemes = systems.size(),
                      everywhere = static_cast<std::uint64_t>(
                          std::ranges::count_if(systems, [](const auto& system) {
                            return system->description().shown_by.empty();
                          }));
  const SchemesPlan plan = plan_of("ufs-schemes");
  std::set<std::string> keys;
  std::uint64_t seq1 = 0, seq2 = 0;
  std::set<std::string> families;
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    const SchemesPlan::Trial trial = plan.at(i);
    EXPECT_TRUE(keys.insert(trial.key()).second) << trial.key();
    const std::string kind = trial.workload.substr(0, trial.workload.find('/'));
    if (kind == "ace-seq1") ++seq1;
    if (kind == "ace-seq2") ++seq2;
    families.insert(kind);
  }
  EXPECT_EQ(seq1, 2 * everywhere * workload::Ace(1).count());
  EXPECT_GE(seq2 * schemes, SchemesCampaign{}.seq2_workloads * everywhere);
  EXPECT_LT(seq2, SchemesCampaign{}.seq2_workloads + schemes);
  for (const workload::Family& family : workload::families())
    EXPECT_TRUE(families.contains(std::string(family.name))) << family.name;
}

TEST(SchemesPlan, SelectsSchemesWorkloadsAndDisks) {
  const SchemesPlan two = plan_of("ufs-schemes/chains,soft-updates/reuse/3@tiny~2");
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two.at(0).key(), "ufs-chains/reuse/3@tiny~2");
  EXPECT_EQ(two.at(1).key(), "ufs-soft-updates/reuse/3@tiny~2");
  const auto whole = parse_schemes_workload("reuse/3@deep~12");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->name, "reuse/3");
  EXPECT_EQ(whole->disk, "deep");
  EXPECT_EQ(whole->order, 12U);
  EXPECT_EQ(parse_schemes_workload("indirect/4")->disk, "deep");
  EXPECT_EQ(parse_schemes_workload("ace-seq2/4")->disk, "plain");
  EXPECT_FALSE(parse_schemes_workload("reuse/3@large"));
  EXPECT_FALSE(parse_schemes_workload("reuse/3~x"));
}

TEST(SchemesPlan, SelectsSchedulesAndSharedHistories) {
  EXPECT_EQ(parse_schemes_workload("many-users/3~2")->schedule, 0U);
  const auto scheduled = parse_schemes_workload("many-users/3@deep~2:15^7");
  ASSERT_TRUE(scheduled) << scheduled.error().message();
  EXPECT_EQ(scheduled->name, "many-users/3");
  EXPECT_EQ(scheduled->disk, "deep");
  EXPECT_EQ(scheduled->order, 2U);
  EXPECT_EQ(scheduled->schedule, 15U);
  EXPECT_EQ(scheduled->faults, 7U);
  EXPECT_FALSE(scheduled->shared);
  EXPECT_FALSE(parse_schemes_workload("many-users/3:x"));
  const auto shared = parse_schemes_workload("shared-names/4@tiny:9");
  ASSERT_TRUE(shared) << shared.error().message();
  EXPECT_EQ(shared->shared, 4U);
  EXPECT_EQ(shared->schedule, 9U);
  EXPECT_GT(workload::threads_of(*shared->operations()), 1U);
  EXPECT_FALSE(parse_schemes_workload("shared-names/x"));
  EXPECT_FALSE(parse_schemes_workload("shared-names/4^7"));
  const auto enumerated = parse_schemes_workload("enumerated/4@tiny~1");
  ASSERT_TRUE(enumerated) << enumerated.error().message();
  EXPECT_EQ(enumerated->enumerated, 4U);
  EXPECT_TRUE(enumerated->shares_names());
  EXPECT_GT(workload::threads_of(*enumerated->operations()), 1U);
  EXPECT_FALSE(parse_schemes_workload("enumerated/999"));
  EXPECT_FALSE(parse_schemes_workload("enumerated/4^7"));
  const SchemesPlan plan = plan_of("ufs-schemes/chains/shared-names");
  std::set<std::string> schedules;
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    const auto trial = parse_schemes_workload(plan.at(i).workload);
    ASSERT_TRUE(trial) << trial.error().message();
    EXPECT_NE(trial->schedule, 0U);
    schedules.insert(fmt::format("{}@{}", trial->schedule, trial->disk));
  }
  EXPECT_EQ(schedules.size(), plan.size()) << "each under another schedule";
}

TEST(SchemesPlan, SelectsWorkloadsWithIoErrors) {
  EXPECT_FALSE(parse_schemes_workload("reuse/3@tiny~2")->faults);
  const auto any = parse_schemes_workload("reuse/3@tiny~2^7");
  ASSERT_TRUE(any);
  EXPECT_EQ(any->name, "reuse/3");
  EXPECT_EQ(any->disk, "tiny");
  EXPECT_EQ(any->order, 2U);
  EXPECT_EQ(any->faults, 7U);
  const auto number = parse_schemes_workload("io-errors/7@tiny~2");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->name, "histories/7");
  EXPECT_EQ(number->disk, "tiny");
  EXPECT_EQ(number->order, 2U);
  EXPECT_EQ(number->faults, 7U);
  EXPECT_EQ(parse_schemes_workload("io-errors/7")->disk, "plain");
  EXPECT_FALSE(parse_schemes_workload("reuse/3^x"));
  EXPECT_FALSE(parse_schemes_workload("io-errors/x"));
  EXPECT_FALSE(parse_schemes_workload("io-errors/7^7"));
  const SchemesPlan plan = plan_of("ufs-schemes/chains/io-errors");
  EXPECT_EQ(plan.size(), 12U);
  EXPECT_EQ(plan_of("ufs-schemes/chains/io-errors/7").at(0).key(), "ufs-chains/io-errors/7");
}

TEST(SchemesPlan, RunsEachFamilyWorkloadWithAndWithoutIoErrors) {
  // Numbers of runs, by workload. In the runs `with_failing_reads`, only reads fail.
  std::map<std::string, int> plain, with_faults, with_failing_reads;
  const SchemesPlan plan = plan_of("ufs-schemes/chains/regrowth");
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    const auto trial = parse_schemes_workload(plan.at(i).workload);
    ASSERT_TRUE(trial) << trial.error().message();
    const bool reads_fail =
        trial->faults && *trial->faults % in_process::kFaultSeeds >= in_process::kFirstReadFaults;
    ++(reads_fail      ? with_failing_reads
       : trial->faults ? with_faults
                       : plain)[trial->name + "@" + trial->disk];
    EXPECT_TRUE(!reads_fail || trial->order % 4 == 2) << "clean blocks are evicted";
  }
  EXPECT_EQ(plain.size(), 40U + 12U);
  EXPECT_EQ(with_faults, plain);
  EXPECT_EQ(with_failing_reads, plain);
}

TEST(SchemesPlan, SelectsWorkloadsWithADamagedImage) {
  EXPECT_FALSE(parse_schemes_workload("reuse/3@tiny~2")->damage);
  const auto number = parse_schemes_workload("damage/14@deep~2");
  ASSERT_TRUE(number) << number.error().message();
  EXPECT_EQ(number->damage, 14U);
  EXPECT_FALSE(number->faults);
  EXPECT_EQ(number->disk, "deep");
  EXPECT_EQ(number->order, 2U);
  EXPECT_EQ(parse_schemes_workload("damage/3")->disk, "tiny");
  EXPECT_FALSE(parse_schemes_workload("damage/x"));
  EXPECT_FALSE(parse_schemes_workload("damage/7^7"));
  std::set<std::string> families;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::string name = parse_schemes_workload(fmt::format("damage/{}", i))->name;
    families.insert(name.substr(0, name.find('/')));
    EXPECT_TRUE(workload::family_member(name.substr(0, name.find('/')), i)) << name;
  }
  EXPECT_EQ(families.size(), 12U) << "each in a separate family";
  EXPECT_EQ(plan_of("ufs-schemes/chains/damage").size(), 24U);
  EXPECT_EQ(plan_of("ufs-schemes/chains/damage/7").at(0).key(), "ufs-chains/damage/7");
}

TEST(SchemesPlan, ShardsCoverAllTrials) {
  const SchemesPlan whole = plan_of("ufs-schemes/chains");
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < whole.size(); ++i) keys.insert(whole.at(i).key());
  for (std::size_t index = 0; index < 7; ++index) {
    const SchemesPlan part = plan_of("ufs-schemes/chains", {.index = index, .count = 7});
    for (std::uint64_t i = 0; i < part.size(); ++i) EXPECT_EQ(keys.erase(part.at(i).key()), 1U);
  }
  EXPECT_TRUE(keys.empty()) << *keys.begin();
  const SchemesPlan complete = plan_of("ufs-schemes/all/ace-seq2", {.index = 999, .count = 1000});
  EXPECT_EQ(complete.at(complete.size() - 1).system->name(),
            adapters::file_system_types().front()->systems().back()->name());
  EXPECT_EQ(plan_of("ufs-schemes/all/ace-seq1/3", {.index = 1, .count = 2}).size(), 0U);
}

}  // namespace
}  // namespace headcrash::campaign
