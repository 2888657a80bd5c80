#include "results/statistics/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace headcrash::statistics {
namespace {

TEST(Summary, OfASampleThatCanBeDoneByHand) {
  const Summary summary = summarise(std::vector<double>{4, 1, 3, 2, 100});
  EXPECT_EQ(summary.count, 5U);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 22);
  EXPECT_DOUBLE_EQ(summary.least, 1);
  EXPECT_DOUBLE_EQ(summary.greatest, 100);
  EXPECT_NEAR(summary.deviation, 43.6176, 1e-4);
  EXPECT_EQ(summary.outliers, std::vector<std::size_t>{4});  // told, and still in the mean
  ASSERT_TRUE(summary.mean_interval);
  EXPECT_TRUE(summary.mean_interval->holds(22));
}

TEST(Summary, FewValuesHaveNoInterval) {
  EXPECT_FALSE(summarise(std::vector<double>{1, 2}).mean_interval);
  EXPECT_EQ(summarise(std::vector<double>{7}).deviation, 0);
  const Summary flat = summarise(std::vector<double>{5, 5, 5});
  ASSERT_TRUE(flat.mean_interval);
  EXPECT_DOUBLE_EQ(flat.mean_interval->low, 5);
  EXPECT_DOUBLE_EQ(flat.mean_interval->high, 5);
}

TEST(Quantile, LiesBetweenNeighbours) {
  const std::vector<double> values = {10, 40, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
}

/// The same sample gives the same interval, and another seed nearly the same.
TEST(Bootstrap, FollowsFromItsSeed) {
  const std::vector<double> values = {9, 12, 10, 11, 13, 8, 10, 12};
  const auto one = summarise(values, 1).mean_interval;
  const auto again = summarise(values, 1).mean_interval;
  const auto other = summarise(values, 2).mean_interval;
  EXPECT_EQ(one->low, again->low);
  EXPECT_NEAR(one->low, other->low, 0.2);
  EXPECT_NEAR(one->high, other->high, 0.2);
}

/// Of many samples whose true mean is known, about 95 % of the intervals must hold it; of three values, too.
TEST(Bootstrap, CoversTheTruthAsOftenAsItSays) {
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

TEST(Comparison, TellsBetterWorseAndSame) {
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

/// A drift that both sides share hides a change of 3 % from unpaired values and not from pairs.
TEST(Comparison, PairsTakeOutASharedDrift) {
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

/// By hand, with Student's distribution and the sample's deviation of 18.3: 16 values for 10 % (t = 2.13), 54
/// for 5 % (t = 2.01).
TEST(Repetitions, AreAsManyAsTheSpreadNeeds) {
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
