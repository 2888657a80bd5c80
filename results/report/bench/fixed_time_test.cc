// Tests contests of jobs with a fixed duration. Their elapsed times would all be equal, so they are
// ranked by the time per operation.
#include <gtest/gtest.h>

#include "results/report/bench/baseline.h"
#include "results/report/bench/ranking.h"

namespace headcrash::report {
namespace {

Entrant entrant(const char* filesystem, double elapsed_ms, double rate, bool fixed_time) {
  Entrant made;
  made.filesystem = filesystem;
  for (int repetition = 0; repetition < 5; ++repetition) {
    Measurement m;
    m.repetition = repetition;
    m.elapsed_ms = elapsed_ms;
    m.quiescent_ms = elapsed_ms + 10;
    m.rate = rate + repetition * 0.01;
    m.fixed_time = fixed_time;
    m.busy_share = m.elapsed_busy_share = 1;
    made.measurements.push_back(m);
  }
  return made;
}

TEST(FixedTime, RanksEntrantsByTimePerOperation) {
  Contest contest;
  contest.entrants = {entrant("slow", 5000, 92, true), entrant("fast", 5001, 104, true)};
  rank(contest);
  EXPECT_STREQ(contest.ranked_by(), "ms_per_operation");
  EXPECT_EQ(contest.entrants[0].filesystem, "fast");
  EXPECT_EQ(contest.entrants[1].standing.rank, 2);
  EXPECT_NEAR(contest.entrants[1].standing.to_best.ratio, 104.0 / 92, 0.01);
}

/// Only one of the two jobs has a fixed duration. Both entrants are nevertheless ranked by the time
/// per operation.
TEST(FixedTime, AppliesIfOneOfTwoMeasurementsHasAFixedDuration) {
  Contest contest;
  contest.entrants = {entrant("stopped", 5000, 50, true), entrant("done", 4000, 60, false)};
  rank(contest);
  EXPECT_TRUE(contest.by_operation);
  EXPECT_NEAR(contest.entrants[1].standing.to_best.ratio, 60.0 / 50, 0.01);
}

TEST(FixedTime, LeavesOtherContestsRankedByTime) {
  Contest contest;
  contest.entrants = {entrant("a", 5000, 92, false), entrant("b", 4000, 50, false)};
  rank(contest);
  EXPECT_STREQ(contest.ranked_by(), "quiescent_ms");
  EXPECT_EQ(contest.entrants[0].filesystem, "b");
}

/// The baseline has no times per operation, because it was recorded before jobs with a fixed
/// duration were supported.
TEST(FixedTime, IsNotComparedWithABaselineInAnotherUnit) {
  Benchmark then, now;
  for (auto& [bench, fixed] :
       {std::pair<Benchmark&, bool>(then, false), std::pair<Benchmark&, bool>(now, true)}) {
    Contest contest;
    contest.entrants = {entrant("ext4", 5000, 92, fixed)};
    rank(contest);
    bench.contests.push_back(contest);
  }
  const auto compared = compare_with_baseline(now, then, kBaselineTolerance);
  ASSERT_EQ(compared.changes.size(), 1U);
  EXPECT_EQ(compared.changes[0].change, statistics::Change::cannot_tell);
  EXPECT_FALSE(compared.changes[0].now_ms);
  EXPECT_EQ(compared.regressions(), 0U);
}

}  // namespace
}  // namespace headcrash::report
