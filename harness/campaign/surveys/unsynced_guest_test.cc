// Tests two cells of unsynced-loss from start to end: a cut on ext4 with short intervals, and its
// control.
#include <gtest/gtest.h>

#include <map>

#include "harness/campaign/surveys/unsynced_cell.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {
namespace {

/// Measures the cell, and returns the metrics of its phase `workload`.
std::map<std::string, double> measured(const UnsyncedCell& cell) {
  const auto subject = survey_subject(cell.filesystem, default_cache()).value();
  const auto scratch = base::ScratchFolder::make().value();
  const auto record =
      measure_unsynced(cell, subject.adapter,
                       {.image = subject.image,
                        .accelerator = vm::probe_accelerator(default_cache()).accelerator,
                        .cache = default_cache(),
                        .scratch = scratch.path(),
                        .seed = 1});
  std::map<std::string, double> metrics;
  if (!record) ADD_FAILURE() << record.error().message();
  if (!record) return metrics;
  EXPECT_EQ(record->verdict, db::kMeasured) << record->summary;
  for (const db::PhaseRecord& phase : record->phases)
    for (const db::MetricRecord& metric : phase.metrics) metrics[metric.name] = metric.value;
  return metrics;
}

TEST(UnsyncedGuest, ACutLosesRecentChangesAndKeepsOldOnes) {
  const auto seen = measured({.filesystem = "ext4", .setting = &writeback_settings().front()});
  ASSERT_FALSE(seen.empty());
  EXPECT_GT(seen.at("loss.lost"), 0) << "changes of 1 s do not expire";
  EXPECT_GT(seen.at("loss.kept"), 0);
  EXPECT_GE(seen.at("loss.oldest_lost"), 1000);
  constexpr double kSlowHostMs = 3000;
  EXPECT_LT(seen.at("loss.oldest_lost"), seen.at("loss.bound") + kSlowHostMs);
}

TEST(UnsyncedGuest, ASyncBeforeTheCutKeepsEverything) {
  const auto seen =
      measured({.filesystem = "ext4", .setting = &writeback_settings().front(), .synced = true});
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.at("loss.lost"), 0);
  EXPECT_EQ(seen.at("loss.oldest_lost"), 0);
}

}  // namespace
}  // namespace headcrash::campaign
