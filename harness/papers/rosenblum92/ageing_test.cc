// Tests the ageing load and its evaluation on small disks (ageing.h, production_run.h).
#include "harness/papers/rosenblum92/ageing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/papers/rosenblum92/production_run.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

double part(const BlockBytes& bytes, BlockType type) {
  return bytes.at(static_cast<std::size_t>(type));
}

double all(const BlockBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

ProductionOptions small(const std::string& disk, std::uint64_t seed = 3) {
  return production_options(production_disk(disk), seed, true);
}

TEST(Ageing, SizesHaveTheGivenMeanAndAreMostlySmall) {
  for (const ProductionDisk& disk : production_disks()) {
    const AgeingOptions options = ageing_of(disk);
    const Ageing load(options);
    std::vector<std::uint64_t> sizes = load.sizes();
    EXPECT_NEAR(static_cast<double>(load.bytes_in_use()) / options.bytes_in_use, 1, .001)
        << disk.name;
    EXPECT_NEAR(static_cast<double>(load.bytes_in_use()) / static_cast<double>(load.files()) /
                    options.file_bytes,
                1, .002)
        << disk.name;
    std::ranges::sort(sizes);
    EXPECT_LE(sizes.back(), options.file_bytes_max);
    // The mean of a log-normal distribution is exp(spread^2 / 2) times its median. The limit on
    // sizes reduces the mean.
    const double ratio = options.file_bytes / static_cast<double>(sizes[sizes.size() / 2]);
    EXPECT_GT(ratio, 6) << disk.name;
    EXPECT_LT(ratio, 12) << disk.name;
  }
}

TEST(Ageing, AZeroSpreadGivesEqualSizes) {
  AgeingOptions options = ageing_of(production_disk("/tmp"));
  options.size_spread = 0;
  const Ageing load(options);
  EXPECT_EQ(load.sizes().front(), load.sizes().back());
}

TEST(Ageing, StartsInTheSteadyState) {
  // If the initial files had the lifetimes of new files, most data would be rewritten at once.
  AgeingOptions options = ageing_of(production_disk("/user6"));
  const double without = Ageing(options).mean_lifetime_hours();
  EXPECT_NEAR(without, 1280 * .739 / 4.4, .5);
  options.hours = 380;
  EXPECT_NEAR(Ageing(options).mean_lifetime_hours() / without, 1, .35);
}

/// Runs the load on a small disk for the time in which it writes one free space.
Ageing run_alone(AgeingOptions options, LfsSetup setup, double hours) {
  options.hours = hours;
  Ageing load(options);
  setup.machine.populate = [&load](Vfs& vfs) { return load.populate(vfs); };
  const auto machine = setup.start();
  EXPECT_TRUE(machine) << (machine ? "" : machine.error().message());
  run_as_user(**machine, [&] {
    EXPECT_TRUE(load.run_until((*machine)->vfs(), (*machine)->system().executor,
                               static_cast<os::TimeNs>(hours * kHourNs)));
  });
  return load;
}

TEST(Ageing, RemovesFilesTogetherWithTheirFolder) {
  ProductionOptions options = small("/user6");
  options.load.folder_share = .49;
  const double hours = 2 * options.load.bytes_in_use / options.load.bytes_per_hour;
  const Ageing load = run_alone(options.load, options.system, hours);
  const auto written = static_cast<double>(load.bytes_written()),
             removed = static_cast<double>(load.bytes_removed());
  EXPECT_NEAR(written / (options.load.bytes_per_hour * hours), 1, .02);
  // Lifetimes are wide and a small disk has few folders, so the share varies.
  EXPECT_NEAR(removed / written, .49, .25);
  EXPECT_GT(load.removals(), 0);
  EXPECT_EQ(load.files_removed() / load.removals(), options.load.files_per_folder);
}

TEST(Production, TheWriteCostFollowsFromTheTablesColumns) {
  for (const ProductionDisk& disk : production_disks())
    EXPECT_NEAR(write_cost_of(disk.empty, disk.utilization), disk.write_cost, .006) << disk.name;
  ProductionRun run;
  run.segments_emptied = 30;
  run.segments_cleaned = 10;
  run.segment_bytes = 1000;
  run.cleaner_live_bytes = 2000;
  EXPECT_DOUBLE_EQ(run.empty_share(), .75);
  EXPECT_DOUBLE_EQ(run.cleaned_utilization(), .2);
  EXPECT_DOUBLE_EQ(run.write_cost(), 1.25 / .95);
}

class ProductionDisks : public testing::TestWithParam<const char*> {};

TEST_P(ProductionDisks, CountersMatchTheLoad) {
  const ProductionOptions options = small(GetParam());
  const ProductionRun run = run_production(options);
  ASSERT_TRUE(run.good()) << run.remark;
  // The load keeps the used space constant and writes at the rate in the table. The limits are
  // wide, because the amounts are random and there are few files.
  EXPECT_GE(run.bytes_in_use, options.load.bytes_in_use);
  EXPECT_LT(run.bytes_in_use, 1.15 * options.load.bytes_in_use);
  const double hourly = run.bytes_written / run.hours;
  EXPECT_NEAR(hourly / options.load.bytes_per_hour, 1, .35);
  // The log contains all data that users wrote, except data that was overwritten or deleted while
  // it was still in the cache.
  EXPECT_GT(part(run.log, BlockType::data), .65 * run.bytes_written);
  // The log and the independent reader must agree on the amount of live data.
  EXPECT_DOUBLE_EQ(all(run.live) - part(run.live, BlockType::summary), run.bytes_in_use);
  EXPECT_GT(part(run.live, BlockType::indirect), 0);
  EXPECT_GT(part(run.live, BlockType::summary), 0);
  EXPECT_DOUBLE_EQ(all(run.log), run.log_bytes);
  for (const BlockType type :
       {BlockType::data, BlockType::indirect, BlockType::inodes, BlockType::inode_map,
        BlockType::usage, BlockType::summary, BlockType::directory_log})
    EXPECT_GT(part(run.log, type), 0) << name(type);
  // In the long run, the number of segments that become clean equals the number of segments that
  // the log fills.
  const auto cleaned =
      static_cast<double>((run.segments_cleaned + run.segments_emptied) * run.segment_bytes);
  EXPECT_NEAR(cleaned / run.log_bytes, 1, .2);
  double share = 0, mean = 0;
  for (std::size_t i = 0; i < run.utilization.size(); ++i) {
    share += run.utilization.at(i);
    mean += run.utilization.at(i) * (static_cast<double>(i) + .5) /
            static_cast<double>(run.utilization.size());
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(mean, run.bytes_in_use / run.disk_bytes, .04);
  EXPECT_GT(run.disk_busy, 0);
  EXPECT_LT(run.disk_busy, .2);
}

INSTANTIATE_TEST_SUITE_P(All, ProductionDisks,
                         testing::Values("/user6", "/swap1", "/tmp", "/src/kernel"));

TEST(Production, EqualSeedsGiveEqualRuns) {
  const ProductionRun one = run_production(small("/user6")),
                      again = run_production(small("/user6"));
  EXPECT_EQ(one.log_bytes, again.log_bytes);
  EXPECT_EQ(one.utilization, again.utilization);
  EXPECT_NE(run_production(small("/user6", 4)).log_bytes, one.log_bytes);
}

TEST(Production, OptionsTakeEffect) {
  const ProductionRun usual = run_production(small("/user6"));
  ProductionOptions bursts = small("/user6");
  bursts.load.busy_share = 1.0 / 60;
  const ProductionRun in_bursts = run_production(bursts);
  EXPECT_LT(in_bursts.checkpoints * 2, usual.checkpoints);
  ProductionOptions rarely = small("/user6");
  rarely.system.mount.checkpoint_interval_ns *= 60;
  const ProductionRun with_few = run_production(rarely);
  EXPECT_LT(part(with_few.log, BlockType::usage) / with_few.log_bytes,
            part(usual.log, BlockType::usage) / usual.log_bytes);
  ProductionOptions together = small("/user6");
  together.load.files_together = together.load.files_per_folder;
  const ProductionRun folders = run_production(together);
  EXPECT_GT(folders.empty_share(), usual.empty_share());
  ProductionOptions removed = small("/user6");
  removed.load.folder_share = .49;
  EXPECT_GT(run_production(removed).empty_share(), usual.empty_share());
}

TEST(Production, SwapFilesAreSparseAndWrittenInPlace) {
  const ProductionOptions options = small("/swap1");
  EXPECT_EQ(options.load.sparseness, 4U);
  ProductionOptions never = options;
  never.load.in_place = 0;
  const ProductionRun usual = run_production(options), whole = run_production(never);
  // Rewrites in place kill the blocks of a file independently of each other, so fewer segments
  // become empty without cleaning.
  EXPECT_LE(usual.empty_share(), whole.empty_share());
  ProductionOptions dense = options;
  dense.load.sparseness = 1;
  EXPECT_GT(part(usual.live, BlockType::indirect),
            part(run_production(dense).live, BlockType::indirect));
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
