#include "harness/bench/samples.h"

#include <gtest/gtest.h>

#include "results/db/testing/database_fixture.h"

namespace headcrash::bench {
namespace {

class SamplesTest : public db::ScratchFolder {
 protected:
  void SetUp() override {
    db::ScratchFolder::SetUp();
    database_.emplace(db::must(db::Database::open(file(), db::Database::Access::read_write)));
  }
  void record(std::int64_t run, const std::string& filesystem, std::int64_t repetition,
              const char* verdict, double create_ms) {
    db::TrialRecord trial =
        db::some_bench_trial(filesystem + "/d/w.scaled/" + std::to_string(repetition));
    trial.filesystem = filesystem;
    trial.device = "d";
    trial.workload = "w";
    trial.parameters = "files=7";
    trial.repetition = repetition;
    trial.verdict = verdict;
    trial.wall_ms = create_ms * 10;
    trial.phases.front().measure->quiescent_ms = create_ms;
    if (trial.verdict == db::kFailed) trial.phases.front().measure.reset();
    db::must(database_->record_trial(run, trial));
  }
  std::optional<db::Database> database_;
};

TEST_F(SamplesTest, LoadsTheStoredMeasurementsOfARun) {
  const auto run = db::must(database_->begin_run(db::some_run()));
  const auto other = db::must(database_->begin_run(db::some_run()));
  record(run, "ext4", 1, db::kMeasured, 110);  // stored before repetition 0
  record(run, "ext4", 0, db::kMeasured, 100);
  record(run, "xfs", 0, db::kFailed, 0);
  record(other, "ext4", 0, db::kMeasured, 999);
  const auto samples = db::must(samples_of(*database_, run));
  ASSERT_EQ(samples.size(), 2U);
  const CellSamples& ext4 = samples.at("ext4/d/w.scaled");
  EXPECT_EQ(ext4.trials, 2);
  EXPECT_EQ(ext4.failed, 0);
  EXPECT_EQ(ext4.labels, std::vector<std::string>{"create"})
      << "a verification phase is not a sample";
  EXPECT_EQ(ext4.times_ms.at("create"), (std::vector<double>{100, 110}));
  EXPECT_EQ(samples.at("xfs/d/w.scaled").failed, 1);
}

TEST_F(SamplesTest, EstimatesTimeFromMeasuredTrialsOfAllRuns) {
  const auto run = db::must(database_->begin_run(db::some_run()));
  record(run, "ext4", 0, db::kMeasured, 100);
  record(run, "ext4", 1, db::kMeasured, 300);
  record(run, "ext4", 2, db::kFailed, 9000);
  const adapters::LinuxAdapter ext4{.name = "ext4"}, xfs{.name = "xfs"};
  const BenchDevice device{.name = "d"};
  BenchWorkload workload{.name = "w", .arguments = {{"files", 7}}};
  Cell cell{.filesystem = &ext4, .device = &device, .workload = &workload};
  const auto same = db::must(earlier_trials(*database_, cell));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->trials, 2);
  EXPECT_DOUBLE_EQ(same->mean_s, 2);
  cell.filesystem = &xfs;
  EXPECT_FALSE(db::must(earlier_trials(*database_, cell)));
  EXPECT_TRUE(db::must(similar_trials(*database_, cell)));
  workload.arguments = {{"files", 8}};
  EXPECT_FALSE(db::must(similar_trials(*database_, cell)));
}

}  // namespace
}  // namespace headcrash::bench
