// Tests that the papers' bandwidth figures are reproduced.
#include "plugin/profiles/paper_bandwidth.h"

#include <gtest/gtest.h>

namespace headcrash::profiles {
namespace {

TEST(SegmentBandwidth, MatchesTheDissertation) {
  const auto rows = measure_segments(200);
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 3U);
  for (const SegmentRow& row : *rows) {
    for (std::size_t i = 0; i < kSegmentKib.size(); ++i) {
      EXPECT_NEAR(row.synchronised[i], row.printed[i], 0.03)
          << row.drives << " drives, " << kSegmentKib[i];
      if (row.drives == 1) {
        EXPECT_EQ(row.unsynchronised[i], row.synchronised[i]);
      } else {
        EXPECT_LT(row.unsynchronised[i], row.synchronised[i])
            << "a transfer waits for the last of several spindles";
      }
    }
  }
}

TEST(Scheduling, AThousandQueuedWritesReachAQuarterOfTheBandwidth) {
  const auto rows = measure_queues();
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_NEAR((*rows)[0].fcfs, 0.07, 0.015);
  EXPECT_NEAR((*rows)[0].sptf, 0.25, 0.06);
  EXPECT_NEAR((*rows)[1].fcfs, 0.1, 0.015);
  EXPECT_NEAR((*rows)[1].sptf, 0.3, 0.06);
  for (const QueueRow& row : *rows) {
    EXPECT_GT(row.sptf / row.fcfs, 2.8) << row.profile;
    EXPECT_GT(row.sptf, row.c_look) << row.profile;
  }
}

}  // namespace
}  // namespace headcrash::profiles
