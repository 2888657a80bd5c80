// Tests variants that are not in the dissertation: several logs, other methods to reuse space, and
// idle cleaning (cleaning_simulator.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/papers/rosenblum92/cleaning_simulator.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

SimulatorOptions hot_cold(double utilization = .8) {
  return {.files = 1 << 14,
          .files_per_segment = 64,
          .utilization = utilization,
          .pattern = kHotCold90To10,
          .selection = lfs::Selection::cost_benefit,
          .order = lfs::WriteBackOrder::by_age,
          .files_cleaned_at_once = 320,
          .cleaned_data = CleanedData::own_log,
          .segment_age = SegmentAge::last_write};
}

SimulatorCounts counts_of_variant(const SimulatorOptions& options) {
  CleaningSimulator simulator(options);
  simulator.write(8 * options.files);
  simulator.verify();
  const SimulatorCounts before = simulator.counts();
  simulator.write(4 * options.files);
  simulator.verify();
  return simulator.counts() - before;
}

TEST(SimulatorVariants, SeparateLogsForHotAndColdDataBeatASingleLog) {
  SimulatorOptions options = hot_cold();
  const double one = write_cost(counts_of_variant(options), 64);
  options.logs = 2;
  options.separation = WriteSeparation::known;
  const double known = write_cost(counts_of_variant(options), 64);
  options.separation = WriteSeparation::by_interval;
  const double guessed = write_cost(counts_of_variant(options), 64);
  EXPECT_LT(known, one);
  EXPECT_LT(known, guessed * 1.02);
  EXPECT_LT(guessed, one);
}

TEST(SimulatorVariants, EveryReuseMethodKeepsEveryFile) {
  for (const auto reuse : {SpaceReuse::plugging, SpaceReuse::adaptive_plugging,
                           SpaceReuse::recycling, SpaceReuse::adaptive_recycling}) {
    for (const auto cleaned : {CleanedData::shares_log, CleanedData::own_log}) {
      for (const std::uint32_t logs : {1U, 4U}) {
        for (const double utilization : {.3, .9}) {
          SimulatorOptions options = hot_cold(utilization);
          options.reuse = reuse;
          options.cleaned_data = cleaned;
          options.logs = logs;
          options.separation = logs == 1 ? WriteSeparation::none : WriteSeparation::by_interval;
          options.positioning = wren_iv();
          EXPECT_EQ(counts_of_variant(options).written, 4 * options.files);
        }
      }
    }
  }
}

TEST(SimulatorVariants, RecyclingCopiesNothing) {
  SimulatorOptions options = hot_cold();
  options.reuse = SpaceReuse::recycling;
  const SimulatorCounts counts = counts_of_variant(options);
  EXPECT_EQ(counts.files_copied, 0U);
  EXPECT_EQ(counts.segments_read, 0U);
  EXPECT_DOUBLE_EQ(write_cost(counts, 64), 1);
  EXPECT_GT(counts.segments_plugged, 0U);
  EXPECT_GT(write_cost(counts, 64, wren_iv()), 1.5);
}

TEST(SimulatorVariants, PluggingReadsFewerSegmentsThanCleaning) {
  SimulatorOptions options = hot_cold(.9);
  const SimulatorCounts cleaned = counts_of_variant(options);
  options.reuse = SpaceReuse::plugging;
  const SimulatorCounts plugged = counts_of_variant(options);
  EXPECT_GT(plugged.files_plugged, 0U);
  EXPECT_LE(plugged.files_plugged, plugged.files_copied);
  EXPECT_LT(plugged.segments_read, cleaned.segments_read);
  EXPECT_GT(plugged.runs_plugged, plugged.segments_plugged);
}

// For each pass, the adaptive policy selects the cheaper method. This need not minimise the total
// cost: after a segment's dead slots have been plugged, the segment contains more live data when it
// is cleaned.
TEST(SimulatorVariants, AdaptiveSelectsTheCheaperMethodInEachPass) {
  SimulatorOptions options = hot_cold(.9);
  options.reuse = SpaceReuse::plugging;
  const SimulatorCounts plugged = counts_of_variant(options);
  options.reuse = SpaceReuse::adaptive_plugging;
  EXPECT_EQ(counts_of_variant(options).files_plugged,
            plugged.files_plugged);  // positioning is free, so the adaptive variant always plugs
  options.positioning = {.access = 1000, .access_each_run = true};
  EXPECT_EQ(counts_of_variant(options).files_plugged, 0U);
  for (const bool each_run : {false, true}) {
    options.positioning = wren_iv();
    options.positioning.access_each_run = each_run;
    const auto cost = [&](SpaceReuse reuse) {
      options.reuse = reuse;
      return write_cost(counts_of_variant(options), 64, options.positioning);
    };
    const double worse = std::max(cost(SpaceReuse::cleaning), cost(SpaceReuse::plugging));
    EXPECT_LT(cost(SpaceReuse::adaptive_plugging), worse) << each_run;
  }
}

TEST(SimulatorVariants, IdleCleaningDelaysNoUser) {
  SimulatorOptions options = hot_cold();
  const double busy = write_cost(counts_of_variant(options), 64);
  options.writes_between_idle_times = 2000;
  options.idle_clean_until = 40;
  const SimulatorCounts idle = counts_of_variant(options);
  EXPECT_DOUBLE_EQ(foreground_cost(idle, 64), 1);
  EXPECT_GT(write_cost(idle, 64), busy);
  EXPECT_EQ(idle.segments_read, idle.idle_segments_read);
}

TEST(SimulatorVariants, PositioningMatchesTheWrenIvDrive) {
  EXPECT_NEAR(wren_iv().access, 29.5 * 1.3 * 1.024 / 4, 1e-9);
  EXPECT_NEAR(wren_iv().revolution, 5.5, .1);
  EXPECT_NEAR(wren_iv().request, 1.7, .1);
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
