// Tests geometry, seek curve, rotation and track transfers on a drive that is small enough to
// verify the results by hand.
#include "plugin/model/disk/mechanism.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

TEST(Geometry, PlacesSectorsAtDistinctSlotsOutsideSlippedTracks) {
  const DiskProfile p = bench::small_profile();
  const Geometry geometry(p);
  ASSERT_EQ(geometry.sectors(), p.capacity_sectors);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places;
  for (std::uint64_t lbn = 0; lbn < geometry.sectors(); ++lbn) {
    const TrackRun run = geometry.locate(lbn);
    EXPECT_TRUE(places.emplace(run.cylinder, run.head, run.slot).second) << lbn;
    EXPECT_FALSE(run.cylinder == 0 && (run.head == 2 || run.head == 3)) << "slipped";
    EXPECT_LT(run.cylinder, p.cylinders);
    EXPECT_EQ(run.track_sectors, run.cylinder < 20 ? 16U : 10U);
  }
}

TEST(Geometry, SkewsShiftTheFirstSector) {
  const Geometry geometry(bench::small_profile());
  EXPECT_EQ(geometry.locate(0).slot, 4U);  // after the unused sectors at the front
  EXPECT_EQ(geometry.locate(0).sectors, 12U);
  EXPECT_EQ(geometry.locate(12).slot, 3U);      // next head
  EXPECT_EQ(geometry.locate(28).cylinder, 1U);  // tracks 2 and 3 are slipped
  EXPECT_EQ(geometry.locate(28).slot, (3 * 3 + 5U) % 16);
}

TEST(SeekCurve, ConsistsOfThreeParts) {
  const DiskProfile p = bench::small_profile();
  const SeekCurve curve(p.seek, p.cylinders);
  EXPECT_EQ(curve.seek_ns({5, 1}, {5, 1}), 0);
  EXPECT_EQ(curve.seek_ns({5, 1}, {5, 2}), 500'000);
  EXPECT_EQ(curve.seek_ns({5, 1}, {4, 2}), 1'000'000);
  EXPECT_EQ(curve.seek_ns({0, 0}, {9, 0}), 3'000'000);
  EXPECT_EQ(curve.seek_ns({0, 0}, {30, 0}), 4'500'000);
  EXPECT_GT(curve.average_ns(), curve.distance_ns(5));
}

TEST(Rotation, DoesNotDriftOverYears) {
  const Rotation rotation(11'111'125'700);
  const TimeNs year = 365LL * 24 * 3600 * kSecondNs;
  const TimeNs turns = 11'111'125'700;  // duration of exactly 1000 revolutions, in nanoseconds
  for (const TimeNs base : {TimeNs{0}, TimeNs{123'456}, 200 * year}) {
    EXPECT_EQ(rotation.angle_ps(base + turns), rotation.angle_ps(base));
    EXPECT_EQ(rotation.angle_ps(base + 1),
              (rotation.angle_ps(base) + 1000) % rotation.revolution_ps());
  }
}

TEST(Mechanism, WaitsForTheSlotAndSwitchesHeadsWithinTheSkew) {
  const Mechanism mechanism(bench::small_profile());
  MediaAccess planned;
  Transfer transfer;
  transfer.lbn = 0;
  transfer.sectors = 28;
  mechanism.plan(transfer, planned);
  ASSERT_EQ(planned.passes.size(), 2U);
  EXPECT_EQ(planned.seek_ps, 0);
  // At 10 ms per revolution, slot 4 of 16 arrives after 2.5 ms.
  EXPECT_EQ(planned.rotation_ps, 2'500'000'000);
  EXPECT_EQ(planned.passes[0].sectors, 12U);
  EXPECT_EQ(planned.passes[1].start_ps,
            11'875'000'000);  // the track ends at 10 ms; the next head must wait for slot 3
  EXPECT_EQ(planned.end_ps, 21'875'000'000);
  const MediaAccess::Progress mid = planned.progress_at(3'200'000'000, 10'000'000'000);
  EXPECT_EQ(mid.passed, 1U);
  EXPECT_TRUE(mid.under_head);
  const MediaAccess::Progress between = planned.progress_at(11'000'000'000, 10'000'000'000);
  EXPECT_EQ(between.passed, 12U);
  EXPECT_FALSE(between.under_head);
}

TEST(Mechanism, LosesARevolutionIfTheBusIsTooSlow) {
  const Mechanism mechanism(bench::small_profile());
  MediaAccess planned;
  Transfer transfer;
  transfer.lbn = 0;
  transfer.sectors = 12;
  transfer.access = Access::write;
  transfer.buffered_data = {1'000'000'000,
                            // The data of sector i arrives at (i + 1) ms. The head arrives at
                            // sector i at 2.5 + 0.625 i ms.
                            1'000'000'000};
  mechanism.plan(transfer, planned);
  ASSERT_EQ(planned.passes.size(), 2U);
  // The head arrives at sector 5 at 5.625 ms, but the data of sector 5 arrives only at 6 ms.
  EXPECT_EQ(planned.passes[0].sectors, 5U);
  EXPECT_EQ(planned.passes[1].start_ps,
            planned.passes[0].start_ps + 5 * 625'000'000LL + 10'000'000'000);
}

}  // namespace
}  // namespace headcrash::model
