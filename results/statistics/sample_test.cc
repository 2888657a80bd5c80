#include "results/statistics/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <tuple>

namespace headcrash::statistics {
namespace {

TEST(Summary, MatchesAHandComputedSample) {
  const Summary summary = summarise(std::vector<double>{4, 1, 3, 2, 100});
  EXPECT_EQ(summary.count, 5U);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 22);
  EXPECT_DOUBLE_EQ(summary.least, 1);
  EXPECT_DOUBLE_EQ(summary.greatest, 100);
  EXPECT_NEAR(summary.deviation, 43.6176, 1e-4);
  // The outlier is reported, and is still included in the mean.
  EXPECT_EQ(summary.outliers, std::vector<std::size_t>{4});
  ASSERT_TRUE(summary.mean_interval);
  EXPECT_TRUE(summary.mean_interval->holds(22));
}

TEST(Summary, HasNoIntervalForFewValues) {
  EXPECT_FALSE(summarise(std::vector<double>{1, 2}).mean_interval);
  EXPECT_EQ(summarise(std::vector<double>{7}).deviation, 0);
  const Summary flat = summarise(std::vector<double>{5, 5, 5});
  ASSERT_TRUE(flat.mean_interval);
  EXPECT_DOUBLE_EQ(flat.mean_interval->low, 5);
  EXPECT_DOUBLE_EQ(flat.mean_interval->high, 5);
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> values = {10, 40, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
}

/// Checks that the same seed reproduces the interval, and that a different seed yields a similar
/// one.
TEST(Bootstrap, IsReproducibleBySeed) {
  const std::vector<double> values = {9, 12, 10, 11, 13, 8, 10, 12};
  const auto one = summarise(values, 1).mean_interval;
  const auto again = summarise(values, 1).mean_interval;
  const auto other = summarise(values, 2).mean_interval;
  EXPECT_EQ(one->low, again->low);
  EXPECT_NEAR(one->low, other->low, 0.2);
  EXPECT_NEAR(one->high, other->high, 0.2);
}

/// Checks that about 95 % of the intervals contain the known true mean, even with only three
/// values.
TEST(Bootstrap, IntervalsCoverTheTrueMeanAtTheStatedRate) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(50, 5);
  constexpr int kSamples = 400;
  for (const std::size_t count : {3U, 4U, 6U, 10U}) {
    int held = 0;
    for (int i = 0; i < kSamples; ++i) {
      std::vector<double> values(count);
      for (double& value : values) value = normal(random);
      if (summarise(values, static_cast<std::uint64_t>(i)).mean_interval->holds(50)) ++held;
    }
    EXPECT_GE(held, kSamples * 92 / 100) << count << " values";
    EXPECT_LE(held, kSamples * 98 / 100) << count << " values";
  }
}

TEST(Comparison, ClassifiesBetterWorseAndSame) {
  const std::vector<double> base = {100, 101, 99, 100, 102, 98};
  const std::vector<double> slower = {120, 121, 119, 120, 122, 118};
  const std::vector<double> noisy = {60, 150, 90, 140, 70, 110};
  EXPECT_EQ(compare(base, slower, 0.02).change, Change::worse);
  EXPECT_EQ(compare(slower, base, 0.02).change, Change::better);
  EXPECT_EQ(compare(base, base, 0.05).change, Change::same);
  EXPECT_EQ(compare(base, noisy, 0.02).change, Change::cannot_tell);
  EXPECT_NEAR(compare(base, slower, 0.02).ratio, 1.2, 1e-9);
  const std::vector<double> two = {100, 200};
  EXPECT_EQ(compare(base, two, 0.02).change, Change::cannot_tell);
  EXPECT_EQ(compare(base, {}, 0.02).change, Change::cannot_tell);
}

/// Both series drift together. The drift hides a difference of 3 % if the values are compared
/// unpaired, but not if they are compared in pairs.
TEST(Comparison, RemovesASharedDriftFromPairs) {
  std::vector<double> base;
  std::vector<double> now;
  for (int i = 0; i < 8; ++i) {
    const double drift = 100 + 20.0 * i;
    base.push_back(drift);
    now.push_back(drift * 1.03 + (i % 2 == 0 ? 0.1 : -0.1));
  }
  EXPECT_EQ(compare(base, now, 0.02).change, Change::cannot_tell);
  EXPECT_EQ(compare_pairs(base, now, 0.02).change, Change::worse);
  EXPECT_NEAR(compare_pairs(base, now, 0.02).ratio, 1.03, 0.001);
}

/// Compares with the two-sided 5 % and 1 % points of Student's distribution (Abramowitz & Stegun,
/// table 26.10).
TEST(StudentTail, MatchesThePublishedTable) {
  for (const auto& [freedom, five, one] :
       {std::tuple(1U, 12.706, 63.657), std::tuple(2U, 4.303, 9.925), std::tuple(3U, 3.182, 5.841),
        std::tuple(4U, 2.776, 4.604), std::tuple(9U, 2.262, 3.250),
        std::tuple(30U, 2.042, 2.750)}) {
    EXPECT_NEAR(student_tail(five, freedom), .05, 5e-5) << freedom;
    EXPECT_NEAR(student_tail(one, freedom), .01, 1e-5) << freedom;
    EXPECT_DOUBLE_EQ(student_tail(0, freedom), 1) << freedom;
  }
}

TEST(Comparison, MatchesAPairedTTestForPairs) {
  // The logarithms of the ratios are .1, .2 and .3, so their mean is .2 and the standard error is
  // .1 / sqrt(3). Thus t is 3.4641, with 2 degrees of freedom.
  const std::vector<double> base = {1, 1, 1}, now = {std::exp(.1), std::exp(.2), std::exp(.3)};
  EXPECT_NEAR(*compare_pairs(base, now, .02).p, .0742, 1e-4);
  EXPECT_EQ(*compare_pairs(base, std::vector<double>{2, 2, 2}, .02).p, 0);
  EXPECT_EQ(*compare_pairs(base, base, .02).p, 1);
  EXPECT_FALSE(compare_pairs(std::vector<double>{1, 1}, std::vector<double>{2, 2}, .02).p);
}

TEST(Comparison, MatchesWelchsTestForMeans) {
  // The logarithms have the means .1 and .4 and the variance .01, so t is .3 / sqrt(2 * .01 / 3) =
  // 3.674 with 4 degrees of freedom.
  const std::vector<double> base = {1, std::exp(.1), std::exp(.2)},
                            now = {std::exp(.3), std::exp(.4), std::exp(.5)};
  EXPECT_NEAR(*compare(base, now, .02).p, .0213, 1e-4);
}

/// Uses Holm's limits for four comparisons: .0125, .0167, .025 and .05.
TEST(CorrectForNumber, StopsAtTheFirstInsignificantComparison) {
  std::vector<Comparison> all(6);
  const std::array<double, 4> p = {.03, .005, .04, .01};
  for (std::size_t i = 0; i < p.size(); ++i) {
    all[i].p = p[i];
    all[i].change = Change::worse;
  }
  all[4].change = Change::same;
  all[5].p = .9;
  all[5].change = Change::same;
  std::vector<Comparison*> family;
  for (Comparison& each : std::span(all).first(5)) family.push_back(&each);
  correct_for_number(family);
  EXPECT_EQ(all[0].change, Change::cannot_tell) << ".03 is beyond the third step";
  EXPECT_EQ(all[1].change, Change::worse);
  EXPECT_EQ(all[2].change, Change::cannot_tell)
      << ".04 is within the last step, but the third failed";
  EXPECT_EQ(all[3].change, Change::worse);
  EXPECT_EQ(all[4].change, Change::same) << "without p";
  EXPECT_EQ(all[5].change, Change::same) << "not in the family";
}

/// Checks that a difference is found in at most 5 % of contests between equal entrants. Without the
/// correction, a difference would be found in a third of these contests.
TEST(CorrectForNumber, SeldomSeparatesEqualEntrants) {
  constexpr std::size_t kContests = 100, kEntrants = 8, kRepetitions = 5;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, .2);
  std::size_t corrected = 0, uncorrected = 0;
  const auto differs = [](const Comparison& c) {
    return c.change == Change::better || c.change == Change::worse;
  };
  for (std::size_t contest = 0; contest < kContests; ++contest) {
    std::array<std::vector<double>, kEntrants> entrants;
    for (auto& entrant : entrants)
      for (std::size_t i = 0; i < kRepetitions; ++i) entrant.push_back(std::exp(normal(random)));
    std::vector<Comparison> pairs;
    for (std::size_t i = 0; i < kEntrants; ++i)
      for (std::size_t j = i + 1; j < kEntrants; ++j)
        pairs.push_back(compare_pairs(entrants[i], entrants[j], .02));
    uncorrected += std::ranges::any_of(pairs, differs);
    std::vector<Comparison*> family;
    for (Comparison& pair : pairs) family.push_back(&pair);
    correct_for_number(family);
    corrected += std::ranges::any_of(pairs, differs);
  }
  EXPECT_GT(uncorrected, kContests / 3);
  EXPECT_LT(corrected, kContests / 9) << "5 % are expected, with a deviation of 2 %";
}

/// The expected numbers for `wild` (16 and 54) were computed by hand from the sample's standard
/// deviation, 18.3, and from Student's t: 2.13 for 10 % and 2.01 for 5 %.
TEST(Repetitions, IncreaseWithTheSpreadAndThePrecision) {
  const std::vector<double> calm = {100, 100.1, 99.9, 100};
  EXPECT_EQ(repetitions_needed(calm, 0.05, 30), 4U);
  const std::vector<double> wild = {80, 120, 90, 110};
  EXPECT_NEAR(static_cast<double>(repetitions_needed(wild, 0.10, 1000)), 16, 2);
  EXPECT_NEAR(static_cast<double>(repetitions_needed(wild, 0.05, 1000)), 54, 5);
  EXPECT_EQ(repetitions_needed(wild, 0.001, 30), 30U);
  EXPECT_EQ(repetitions_needed(std::vector<double>{1}, 0.05, 30), 3U);
}

}  // namespace
}  // namespace headcrash::statistics
