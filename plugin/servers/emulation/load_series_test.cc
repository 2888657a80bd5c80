#include "plugin/servers/emulation/load_series.h"

#include <gtest/gtest.h>

#include "plugin/base/random.h"

namespace headcrash::emulation {
namespace {

using model::kMillisecondNs;
using model::Op;

TEST(LoadSeries, CountsFlushesAtCompletionAndTimeWhileInFlight) {
  LoadSeries series(10 * kMillisecondNs);
  series.completed(Op::write, 8, 10 * kMillisecondNs + 500'000, 12 * kMillisecondNs + 250'000);
  series.completed(Op::read, 16, 11 * kMillisecondNs, 11 * kMillisecondNs + 250'000);
  series.completed(Op::flush, 0, 12 * kMillisecondNs, 12 * kMillisecondNs + 100'000);
  series.completed(Op::trim, 64, 10 * kMillisecondNs, 13 * kMillisecondNs);
  ASSERT_EQ(series.bins().size(), 3U);
  EXPECT_EQ(series.width(), kMillisecondNs);
  EXPECT_EQ(series.bins()[0].inside_ns, 500'000);
  EXPECT_EQ(series.bins()[1].inside_ns, 1'250'000);
  EXPECT_EQ(series.bins()[2].inside_ns, 350'000);
  EXPECT_EQ(series.bins()[1].sectors_read, 16U);
  EXPECT_EQ(series.bins()[2].flushes, 1U);
}

/// If a drive takes 100 ms to write 1000 sectors, the series must spread the sectors over this time
/// and not assign them all to one millisecond.
TEST(LoadSeries, SpreadsSectorsOverTheTimeSinceTheLastCompletion) {
  LoadSeries series;
  series.completed(Op::write, 1000, 0, 100 * kMillisecondNs);
  // This request had to wait for the first one.
  series.completed(Op::write, 500, 0, 150 * kMillisecondNs);
  series.completed(Op::read, 7, 200 * kMillisecondNs, 200 * kMillisecondNs);
  ASSERT_EQ(series.bins().size(), 201U);
  for (std::size_t i = 0; i < 150; ++i) EXPECT_NEAR(series.bins()[i].sectors_written, 10, 1) << i;
  EXPECT_EQ(series.bins()[160].sectors_written, 0U);
  EXPECT_EQ(series.bins()[200].sectors_read, 7U) << "a request without duration";
}

TEST(LoadSeries, CountsOnlyRequestsInItsInterval) {
  LoadSeries series(10 * kMillisecondNs);
  series.completed(Op::write, 8, 0, 9 * kMillisecondNs);
  EXPECT_TRUE(series.bins().empty());
  series.completed(Op::write, 8, 0, 11 * kMillisecondNs);
  ASSERT_EQ(series.bins().size(), 2U);
  EXPECT_EQ(series.bins()[0].inside_ns, kMillisecondNs);
}

/// For any lengths and any order of the requests, the number of bins must stay small, and no sector
/// or time may be lost or counted twice.
TEST(LoadSeries, IsBoundedAndPreservesItsSums) {
  Random random(24);
  for (int round = 0; round < 20; ++round) {
    LoadSeries series(kMillisecondNs);
    LoadSeries::Bin sum;
    const auto longest = static_cast<std::uint64_t>(kMillisecondNs) << (4 + round);
    for (int i = 0; i < 500; ++i) {
      const auto from = kMillisecondNs + static_cast<model::TimeNs>(random.below(longest));
      const auto to = from + static_cast<model::TimeNs>(random.below(longest / 8));
      const auto sectors = static_cast<std::uint32_t>(random.below(100));
      const Op op = random.below(2) == 0 ? Op::read : Op::write;
      series.completed(op, sectors, from, to);
      (op == Op::read ? sum.sectors_read : sum.sectors_written) += sectors;
      sum.inside_ns += to - from;
    }
    ASSERT_LE(series.bins().size(), LoadSeries::kBinsMost);
    LoadSeries::Bin all;
    for (const LoadSeries::Bin& bin : series.bins()) all += bin;
    EXPECT_EQ(all.sectors_read, sum.sectors_read);
    EXPECT_EQ(all.sectors_written, sum.sectors_written);
    EXPECT_EQ(all.inside_ns, sum.inside_ns);
  }
}

}  // namespace
}  // namespace headcrash::emulation
