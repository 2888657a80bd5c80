// Tests rates computed from sampled requests against numbers computed by hand.
#include "results/report/frame/io_picture.h"

#include <gtest/gtest.h>

#include "results/report/frame/testing/page_parts.h"

namespace headcrash::report {
namespace {

/// Returns ten requests of 4 KiB at intervals of 10 ms from 0 ms, each in the device for 20 ms. A
/// cut at 100 ms and one read at 5 s follow.
IoPanel ten_and_one() {
  IoPanel panel{.filesystem = "ext4", .key = "t", .cut_ms = 100, .requests = 11, .points = {}};
  for (int i = 0; i < 10; ++i)
    panel.points.push_back({10.0 * i, 1000 + 8 * i, i == 4 ? "read" : "write", 8, 20'000});
  panel.points.push_back({5000, 0, "read", 8, 1000});
  panel.points.push_back({50, 1000, "media", 8, std::nullopt});
  return panel;
}

TEST(IoPicture, ComputesQueueDepthFromTimeInTheDevice) {
  const auto depth = queue_depth(ten_and_one(), 0, 100, 10);
  EXPECT_NEAR(depth[0], 1, 1e-9) << "only the first";
  EXPECT_NEAR(depth[1], 2, 1e-9) << "two at a time afterwards";
  EXPECT_NEAR(depth[9], 2, 1e-9);
  const auto all = queue_depth(ten_and_one(), 0, 100, 1);
  EXPECT_NEAR(all[0], 1.9, 1e-9) << "ten times 20 ms, except the last 10 ms after the cut";
}

TEST(IoPicture, ComputesThroughputInBytesPerSecond) {
  const auto rate = throughput(ten_and_one(), 0, 100, 10);
  for (const double each : rate) EXPECT_NEAR(each, 8 * 512 / 0.010, 1e-6);
}

TEST(IoPicture, MeasuresDistancesFromTheEndOfTheLastRequest) {
  auto panel = ten_and_one();
  EXPECT_EQ(distances(panel, 0, 100, 1)[0], 0) << "consecutive";
  panel.points[5].lba += 90;  // a jump of 90 forwards, and then one of 90 backwards
  EXPECT_NEAR(distances(panel, 0, 100, 1)[0], 180.0 / 9, 1e-9);
}

TEST(IoPicture, ScalesASampleToTheTotalNumberOfRequests) {
  auto panel = ten_and_one();
  EXPECT_TRUE(sample_of(panel).whole());
  panel.requests = 44;
  EXPECT_DOUBLE_EQ(sample_of(panel).scale, 4);
  EXPECT_NEAR(throughput(panel, 0, 100, 1)[0], 4 * 10 * 8 * 512 / 0.1, 1e-6);
  const std::string page = io_picture(panel);
  EXPECT_EQ(page.find("Distance"), std::string::npos)
      << "the preceding request is not in the sample";
  panel.requests = 0;
  EXPECT_EQ(io_picture(panel).find("Throughput"), std::string::npos) << "the rates are unknown";
}

TEST(IoPicture, SeparatesWorkloadAndRecoveryAndLabelsAxesWithUnits) {
  const std::string page = io_picture(ten_and_one());
  EXPECT_EQ(times(page, "<svg"), 2U) << "wide and narrow";
  for (const char* text :
       {">LBA (512 B sectors)<", ">Throughput<", ">Requests in the device<", ">workload<",
        ">recovery<", ">ms of model time<", ">ms of the recovery<", ">cut<"})
    EXPECT_EQ(times(page, text), 2U) << text;
  EXPECT_NE(page.find("class=\"write\" stroke=\"var(--fs0)\""), std::string::npos)
      << "in the file system's colour";
  auto uncut = ten_and_one();
  uncut.cut_ms.reset();
  EXPECT_EQ(io_picture(uncut).find(">recovery<"), std::string::npos);
}

}  // namespace
}  // namespace headcrash::report
