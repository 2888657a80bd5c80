#include "plugin/base/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace headcrash {
namespace {

TEST(LatencyHistogram, ReportsZeroesWhenEmpty) {
  const LatencySummary summary = LatencyHistogram().summary();
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.p99_ns, 0);
  EXPECT_TRUE(summary.buckets.empty());
}

TEST(LatencyHistogram, RoundingErrorOfABucketIsAtMostThreePercent) {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      const std::int64_t value = (std::int64_t{1} << bit) + offset;
      LatencyHistogram histogram;
      histogram.record(value);
      // p50 never exceeds the maximum. This larger value ensures that p50 is the bound of a bucket
      // and not the maximum.
      histogram.record(std::numeric_limits<std::int64_t>::max());
      const auto p50 = histogram.summary().p50_ns;
      EXPECT_GE(p50, value);
      EXPECT_LE(static_cast<double>(p50 - value), 0.03 * static_cast<double>(value)) << value;
    }
  }
}

TEST(LatencyHistogram, QuantilesOfRandomTimesAreAccurateToOneBucket) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> times(13, 1.5);
  std::vector<std::int64_t> values;
  LatencyHistogram histogram;
  for (int i = 0; i < 10001; ++i) {
    values.push_back(static_cast<std::int64_t>(times(random)));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, values.size());
  EXPECT_EQ(summary.max_ns, values.back());
  EXPECT_NEAR(static_cast<double>(summary.p50_ns), static_cast<double>(values[5000]),
              0.03 * static_cast<double>(values[5000]));
  EXPECT_NEAR(static_cast<double>(summary.p99_ns), static_cast<double>(values[9900]),
              0.03 * static_cast<double>(values[9900]));
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < summary.buckets.size(); ++i) {
    total += summary.buckets[i].second;
    if (i > 0) {
      EXPECT_GT(summary.buckets[i].first, summary.buckets[i - 1].first);
    }
  }
  EXPECT_EQ(total, summary.count);
}

TEST(LatencyHistogram, CountsNegativeTimesAsZeroAndCanBeCleared) {
  LatencyHistogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.summary().p99_ns, 0);
  EXPECT_EQ(histogram.summary().count, 1U);
  histogram.clear();
  EXPECT_EQ(histogram.summary().count, 0U);
}

TEST(LatencyHistogram, AddEqualsRecordingIntoOneHistogram) {
  LatencyHistogram one, two, all;
  for (std::int64_t i = 1; i <= 100'000; ++i) {
    (i % 2 == 0 ? one : two).record(i * 37);
    all.record(i * 37);
  }
  one.add(two);
  EXPECT_EQ(one.summary().buckets, all.summary().buckets);
  EXPECT_EQ(one.summary().max_ns, 3'700'000);
  EXPECT_NEAR(one.summary().mean_ns, 50'000.5 * 37, 1);
  for (const double share : {0.01, 0.5, 0.99, 1.0})
    EXPECT_EQ(one.quantile_ns(share), all.quantile_ns(share));
  LatencyHistogram extremes;
  for (const std::int64_t ns : {std::int64_t{-5}, std::int64_t{0}, INT64_MAX}) extremes.record(ns);
  EXPECT_EQ(extremes.summary().max_ns, INT64_MAX);
  EXPECT_EQ(extremes.quantile_ns(0.5), 0);
  EXPECT_EQ(extremes.summary().buckets.back().first, INT64_MAX);
}

}  // namespace
}  // namespace headcrash
