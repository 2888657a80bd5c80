// Tests the search for the knee, and runs a scaled-down version of each part.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "harness/papers/experiment.h"
#include "harness/papers/peacock98/curve.h"
#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {
namespace {

/// Calculates the response time of a server that has a single queue.
LaddisOutcome queue_of(double capacity_per_s, double load) {
  LaddisOutcome outcome{.offered_per_s = load,
                        .achieved_per_s = std::min(load, capacity_per_s),
                        .arrived_per_s = load};
  outcome.saturated = load >= capacity_per_s;
  outcome.mean_ms = outcome.saturated ? 2000 : 1e3 / (capacity_per_s - load);
  return outcome;
}

TEST(Curve, FindsTheKnee) {
  int asked = 0;
  const Curve curve = curve_of({}, [&](double load) {
    ++asked;
    return queue_of(1000, load);
  });
  ASSERT_TRUE(curve.error.empty());
  // The response time reaches 50 ms at 980 requests per second. The capacity is 1000 requests per
  // second.
  EXPECT_LE(*curve.knee_per_s(), 980);
  EXPECT_GE(*curve.knee_per_s(), 980 * .95);
  EXPECT_LE(*curve.knee_ms(), kResponseLimitMs);
  EXPECT_EQ(*curve.highest_per_s(), 1000);
  EXPECT_LE(asked, 10);
  const Curve close =
      curve_of({.precision = .001}, [](double load) { return queue_of(1000, load); });
  EXPECT_NEAR(*close.knee_per_s(), 980, 2);
  for (std::size_t i = 1; i < curve.points.size(); ++i)
    EXPECT_LT(curve.points[i - 1].offered_per_s, curve.points[i].offered_per_s);
}

TEST(Curve, HasNoKneeIfNoLoadIsSustained) {
  const Curve curve = curve_of({.precision = .3}, [](double load) { return queue_of(50, load); });
  const Curve none = curve_of({.precision = 1}, [](double load) { return queue_of(50, load); });
  EXPECT_LE(curve.knee_per_s().value_or(0), 50);
  EXPECT_FALSE(none.knee_per_s());
}

TEST(Curve, StopsAtTheFirstError) {
  int asked = 0;
  const Curve curve = curve_of({}, [&](double) {
    ++asked;
    return LaddisOutcome{.error = "no space"};
  });
  EXPECT_EQ(curve.error, "no space");
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(curve.knee_per_s());
}

TEST(Curve, EndsAtTheLastLoad) {
  const Curve curve =
      curve_of({.last_per_s = 800}, [](double load) { return queue_of(1e6, load); });
  EXPECT_EQ(*curve.knee_per_s(), 800);
}

TEST(Session, MachinesWithManyRequestsRunAlone) {
  constexpr auto kAWhile = std::chrono::milliseconds(50);
  constexpr double kFew = 1e4, kMany = 2e6;
  Session session;
  Session::Turn one = session.turn(kFew), beside = session.turn(kFew);
  const auto ask = [&](double requests) {
    return std::async(std::launch::async, [&session, requests] { return session.turn(requests); });
  };
  auto large = ask(kMany);
  one.reset();
  EXPECT_EQ(large.wait_for(kAWhile), std::future_status::timeout);
  auto later = ask(kFew);  // must not overtake `large`, which is waiting
  EXPECT_EQ(later.wait_for(kAWhile), std::future_status::timeout);
  beside.reset();
  Session::Turn alone = large.get();
  EXPECT_EQ(later.wait_for(kAWhile), std::future_status::timeout);
  alone.reset();
  EXPECT_NE(later.get().use_count(), 0);
}

ExperimentOutcome run(const std::string& part) {
  auto outcome = run_experiment({.name = "peacock98/" + part, .scaled = true});
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

TEST(Peacock98, RunsToCompletion) {
  for (const char* part : {"presto", "raid5", "raid5-presto", "raid0", "raid0-presto", "counts",
                           "mkfs", "recovery", "flusher", "table1", "tunings", "stripes", "hits",
                           "batching", "small", "gathering", "hot-spot"}) {
    const ExperimentOutcome outcome = run(part);
    ASSERT_FALSE(outcome.answers.empty()) << part;
    for (const ClaimAnswer& answer : outcome.answers) {
      EXPECT_FALSE(answer.rules.empty()) << part;
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_EQ(number.ours.has_value(), number.remark.empty())
            << answer.id << " " << number.cell << ": " << number.remark;
      for (const ClaimRule& rule : answer.rules)
        if (rule.text.find("all acknowledged data") != std::string::npos) {
          EXPECT_EQ(rule.verdict, Verdict::holds) << rule.detail;
        }
    }
  }
}

/// With a hot spot, the inodes of UFS are close together, so more writes hit a dirty block.
TEST(Peacock98, DependsOnTheInterpretation) {
  const auto hits = [](const std::string& part) {
    for (const ClaimAnswer& answer : run(part).answers)
      for (const ClaimNumber& number : answer.numbers)
        if (number.cell == "UFS" && number.quantity == "hits of a dirty block, at any byte")
          return number.ours.value_or(0);
    return 0.;
  };
  EXPECT_GT(hits("hot-spot"), hits("hits") + 5);
  EXPECT_FALSE(in_reading({.tuning = Tuning::vxfs}, Reading::hot_spot).hot_spot);
}

TEST(Peacock98, EqualSeedsGiveEqualBytes) {
  EXPECT_EQ(as_csv(run("raid5")), as_csv(run("raid5")));
  EXPECT_EQ(as_csv(run("table1")), as_csv(run("table1")));
}

}  // namespace
}  // namespace headcrash::experiment::peacock98
