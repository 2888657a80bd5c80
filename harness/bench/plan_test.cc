#include "harness/bench/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace headcrash::bench {
namespace {

Bench some_bench() {
  Bench bench{.name = "b", .seed = 7, .least = 3, .most = 8, .interval = 0.05};
  for (const char* name : {"ext4", "xfs", "btrfs"}) bench.filesystems.push_back({.name = name});
  for (const char* name : {"d0", "d1"}) bench.devices.push_back({.name = name, .profile = name});
  for (const char* name : {"w0", "w1"}) bench.workloads.push_back({.name = name, .label = name});
  return bench;
}

CellSamples samples_of_times(const std::vector<double>& first, const std::vector<double>& second) {
  CellSamples samples;
  for (std::size_t i = 0; i < first.size(); ++i) {
    samples.count(true);
    samples.add("create", first[i]);
    samples.add("read", second[i]);
  }
  return samples;
}

TEST(Plan, CellsAreUniqueCombinations) {
  const Bench bench = some_bench();
  const auto cells = cells_of(bench);
  std::set<std::string> keys;
  for (const Cell& cell : cells) keys.insert(cell.key);
  EXPECT_EQ(cells.size(), 12U);
  EXPECT_EQ(keys.size(), 12U);
  EXPECT_TRUE(keys.contains("xfs/d1/w0"));
}

TEST(Plan, AWorkloadRunsOnlyOnItsListedDevices) {
  Bench bench = some_bench();
  bench.workloads[0].devices = {"d1"};
  std::set<std::string> keys;
  for (const Cell& cell : cells_of(bench)) keys.insert(cell.key);
  EXPECT_EQ(keys.size(), 12U - bench.filesystems.size() * (bench.devices.size() - 1));
  EXPECT_TRUE(keys.contains("xfs/d1/w0"));
  EXPECT_FALSE(keys.contains("xfs/d0/w0"));
}

TEST(Plan, AWorkloadRunsOnlyOnItsListedFileSystems) {
  Bench bench = some_bench();
  bench.workloads[0].filesystems = {"ext4"};
  std::set<std::string> keys;
  for (const Cell& cell : cells_of(bench)) keys.insert(cell.key);
  EXPECT_TRUE(keys.contains("ext4/d0/w0"));
  EXPECT_FALSE(keys.contains("xfs/d0/w0"));
  EXPECT_TRUE(keys.contains("xfs/d0/w1"));
}

TEST(Plan, ShardsCoverAllCellsAndKeepGroupsWhole) {
  const Bench bench = some_bench();
  std::multiset<std::string> all;
  std::set<std::string> groups;
  for (std::size_t i = 0; i < 3; ++i) {
    std::set<std::string> own;
    for (const Cell& cell : cells_of(bench, {i, 3})) {
      all.insert(cell.key);
      own.insert(cell.group);
    }
    for (const std::string& group : own)
      EXPECT_TRUE(groups.insert(group).second) << group << " is in two shards";
  }
  EXPECT_EQ(all.size(), 12U);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 12U);
}

TEST(Plan, EachRoundHasASeparateReproducibleOrder) {
  std::set<std::vector<std::size_t>> orders;
  for (std::int64_t round = 0; round < 6; ++round) {
    auto order = round_order(12, 7, round);
    EXPECT_EQ(order, round_order(12, 7, round));
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  }
  EXPECT_EQ(orders.size(), 6U);
  EXPECT_NE(round_order(12, 7, 0), round_order(12, 8, 0));
}

TEST(Plan, EqualRepetitionsOfAGroupHaveEqualSeeds) {
  const Bench bench = some_bench();
  const auto cells = cells_of(bench);
  std::set<std::uint64_t> seeds;
  for (const Cell& cell : cells) seeds.insert(trial_of(bench, cell, 0).seed);
  EXPECT_EQ(seeds.size(), 4U) << "one seed per device and workload";
  EXPECT_NE(trial_of(bench, cells[0], 0).seed, trial_of(bench, cells[0], 1).seed);
  EXPECT_EQ(trial_of(bench, cells[0], 2).key, cells[0].key + "/2");
}

TEST(Repetitions, GrowWithTheConfidenceInterval) {
  const Bench bench = some_bench();
  EXPECT_EQ(repetitions_wanted({}, bench), 3);
  EXPECT_EQ(repetitions_wanted(samples_of_times({100, 100.1, 99.9}, {50, 50.1, 50}), bench), 3);
  const auto wide = repetitions_wanted(samples_of_times({100, 130, 70}, {50, 50, 50}), bench);
  EXPECT_EQ(wide, 8) << "bounded";
}

TEST(Repetitions, IgnoreShortPhases) {
  const Bench bench = some_bench();
  EXPECT_EQ(repetitions_wanted(samples_of_times({100, 100, 100}, {1, 2, 0.5}), bench), 3);
  EXPECT_GT(repetitions_wanted(samples_of_times({100, 100, 100}, {30, 60, 20}), bench), 3);
}

TEST(Repetitions, RepeatFailedTrialsOnlyIfSomeSucceed) {
  const Bench bench = some_bench();
  CellSamples failed;
  for (int i = 0; i < 3; ++i) failed.count(false);
  EXPECT_EQ(repetitions_wanted(failed, bench), 3);
  auto one = samples_of_times({100, 100}, {50, 50});
  one.count(false);
  EXPECT_EQ(repetitions_wanted(one, bench), 4) << "two values are too few for an interval";
}

TEST(Samples, CoverMeasuredPhasesUntilQuiescence) {
  db::TrialRecord trial{.verdict = db::kMeasured};
  trial.phases = {
      {.name = "mkfs"}, {.name = "workload"}, {.name = "workload"}, {.name = "workload"}};
  trial.phases[1].measure =
      db::MeasureRecord{.label = "prepare", .measured = false, .elapsed_ms = 5};
  trial.phases[2].measure =
      db::MeasureRecord{.label = "create", .elapsed_ms = 10, .quiescent_ms = 15};
  trial.phases[3].measure = db::MeasureRecord{.label = "read", .elapsed_ms = 7};
  CellSamples samples;
  samples.add(trial);
  trial.verdict = db::kFailed;
  samples.add(trial);
  EXPECT_EQ(samples.trials, 2);
  EXPECT_EQ(samples.failed, 1);
  EXPECT_EQ(samples.labels, (std::vector<std::string>{"create", "read"}));
  EXPECT_EQ(samples.times_ms.at("create"), std::vector<double>{15});
  EXPECT_EQ(samples.times_ms.at("read"), std::vector<double>{7});
}

}  // namespace
}  // namespace headcrash::bench
