// Tests sector sparing, head order, and zones with gaps. Zones, skews and slipped tracks are tested
// in mechanism_test.cc.
#include "plugin/model/disk/geometry.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

/// Returns a profile with two zones, 4 heads and no skew, so that a slot is the index of a physical
/// sector in its track.
DiskProfile plain_profile(Sparing sparing, std::uint32_t spare_sectors,
                          std::vector<std::uint32_t> slipped_sectors) {
  DiskProfile p = bench::small_profile();
  for (ZoneProfile& zone : p.zones) {
    zone.track_skew_sectors = zone.cylinder_skew_sectors = zone.start_offset_sectors = 0;
    zone.front_unused_sectors = zone.spare_tracks = 0;
    zone.slipped_tracks.clear();
    zone.spare_sectors = spare_sectors;
  }
  p.zones[0].slipped_sectors = std::move(slipped_sectors);
  p.sparing = sparing;
  p.sparing_cylinders = 3;
  return p;
}

struct Case {
  const char* name;
  Sparing sparing;
  std::uint32_t spare_sectors;
  std::vector<std::uint32_t> slipped;
  std::uint64_t sectors;
};

class GeometrySparing : public testing::TestWithParam<Case> {};

TEST_P(GeometrySparing, MapsEverySectorToADistinctGoodSlot) {
  const Case& c = GetParam();
  const DiskProfile p = plain_profile(c.sparing, c.spare_sectors, c.slipped);
  const Geometry geometry(p);
  ASSERT_EQ(geometry.sectors(), c.sectors);
  std::set<Place> bad;
  for (const std::uint32_t s : c.slipped) bad.emplace(s / 64, s / 16 % 4, s % 16);
  std::set<Place> places;
  Place last{0, 0, 0};
  for (std::uint64_t lbn = 0; lbn < geometry.sectors(); ++lbn) {
    const TrackRun run = geometry.locate(lbn);
    const Place place{run.cylinder, run.head, run.slot};
    EXPECT_TRUE(places.insert(place).second) << lbn;
    EXPECT_FALSE(bad.contains(place)) << lbn << " is on a bad sector";
    EXPECT_TRUE(lbn == 0 || last < place) << "LBNs must ascend along the medium: " << lbn;
    last = place;
    ASSERT_GE(run.sectors, 1U);
    for (std::uint32_t k = 1; k < run.sectors && lbn + k < geometry.sectors(); ++k) {
      const TrackRun next = geometry.locate(lbn + k);
      ASSERT_EQ(std::tie(next.cylinder, next.head), std::tie(run.cylinder, run.head)) << lbn;
      ASSERT_EQ(next.slot, run.slot + k) << lbn;
    }
  }
}

// The outer zone has 20 cylinders with 64 sectors each; the inner zone has 20 cylinders with 40
// sectors each.
INSTANTIATE_TEST_SUITE_P(
    All, GeometrySparing,
    testing::Values(
        Case{"track", Sparing::track, 2, {3, 4, 16, 1279}, 2080 - 160 * 2},
        Case{"cylinder", Sparing::cylinder, 3, {0, 63, 64, 70, 71, 400}, 2080 - 40 * 3},
        Case{
            "range", Sparing::cylinder_range, 5, {191, 192, 193, 194, 600, 1278}, 2080 - 2 * 7 * 5},
        Case{"zone", Sparing::zone, 6, {0, 1, 2, 640, 900, 1279}, 2080 - 2 * 6}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Geometry, SerpentineOrderKeepsTheHeadAtACylinderChange) {
  DiskProfile p = plain_profile(Sparing::zone, 0, {});
  p.head_order = HeadOrder::serpentine;
  const Geometry geometry(p);
  EXPECT_EQ(geometry.locate(0).head, 0U);
  EXPECT_EQ(geometry.locate(63).head, 3U);
  EXPECT_EQ(geometry.locate(64).head, 3U);
  EXPECT_EQ(geometry.locate(64).cylinder, 1U);
  EXPECT_EQ(geometry.locate(127).head, 0U);
  EXPECT_EQ(geometry.locate(128).head, 0U);
}

TEST(Geometry, AcceptsGapsBetweenZonesAndAtTheEnd) {
  DiskProfile p = plain_profile(Sparing::zone, 0, {});
  p.zones[0].cylinders = 19;
  p.tail_unused_sectors = 7;
  const Geometry geometry(p);
  EXPECT_EQ(geometry.sectors(), 2080U - 64 - 7);
  EXPECT_EQ(geometry.locate(19 * 64 - 1).cylinder, 18U);
  EXPECT_EQ(geometry.locate(19 * 64).cylinder, 20U);
}

}  // namespace
}  // namespace headcrash::model
