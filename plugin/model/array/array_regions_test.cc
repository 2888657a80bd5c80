// Tests that region bits are stored before the writes that they cover, are used after a cut, and
// are cleared later.
#include <gtest/gtest.h>

#include "plugin/model/array/dirty_regions.h"
#include "plugin/model/testing/array_fixture.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayFixture;
using bench::counted;

constexpr std::uint64_t kSectorsOfADrive = 400;

ArrayProfile with_regions(ArrayProfile p) {
  p.recovery = ArrayRecovery::dirty_regions;
  p.region_sectors = 32;
  return p;
}

/// Writes a stripe's data in place, but not its parity. Afterwards, the array is dirty, one stripe
/// is inconsistent, and the power is off.
void leave_a_hole(ArrayFixture& b, std::uint64_t stripe) {
  const RaidLayout l = b.layout();
  const auto fresh = counted(l.unit, 2);
  b.drives[l.member_of(stripe, l.data)]->stall_writes = true;
  // The region's bit must already be set. Otherwise, the array would first write the bit to the
  // stalled member, and would never begin to write the data.
  b.submit_write(stripe * l.stripe_sectors(), fresh);
  b.run_for(50 * kMillisecondNs);
  b.array->power_cut();
  b.run_for(0);
  for (auto* drive : b.drives) drive->stall_writes = false;
  ASSERT_EQ(b.wrong_stripes(), 1U);
}

TEST(ArrayRegions, AreMarkedOnEveryMemberBeforeTheFirstWrite) {
  ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive, 1,
                 {.jitter_ns = 5 * kMillisecondNs});
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(1, 1)), Status::ok);
  const RaidLayout l = b.layout();
  b.observer.log.clear();
  // The write covers a whole stripe, so nothing is read first.
  ASSERT_EQ(b.write(300, counted(12, 1)), Status::ok);
  // The writes of map pages that are in flight, each identified by its device and its request id.
  std::set<std::string> map_writes;
  std::size_t maps = 0;
  std::size_t writes = 0;
  for (const std::string& line : b.observer.log) {
    unsigned long long at = 0, id = 0, lba = 0;
    unsigned device = 0, sectors = 0;
    if (std::sscanf(line.c_str(), "%llu submit %u %llu op1 %llu+%u", &at, &device, &id, &lba,
                    &sectors) == 5) {
      if (device == 0) continue;
      if (lba >= l.bitmap_first && lba < l.bitmap_first + l.bitmap_sectors) {
        map_writes.insert(fmt::format("{} {}", device, id));
        ++maps;
      } else if (lba >= l.data_first) {
        EXPECT_TRUE(map_writes.empty()) << line;
        EXPECT_EQ(maps, 4U) << line;
        ++writes;
      }
    } else if (std::sscanf(line.c_str(), "%llu ack %u %llu", &at, &device, &id) == 3) {
      map_writes.erase(fmt::format("{} {}", device, id));
    }
  }
  EXPECT_EQ(writes, 4U);
}

TEST(ArrayRegions, MarksReachTheMediumOfMembersWithVolatileCaches) {
  ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive, 1,
                 {.volatile_cache = true});
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  ASSERT_EQ(b.write(40, counted(1, 1)), Status::ok);
  for (std::uint32_t m = 0; m < 4; ++m)
    EXPECT_EQ(b.on_member(m, l.bitmap_first, 1).front(), std::byte{0b10}) << "member " << m;
}

TEST(ArrayRegions, AreAllMarkedIfTheMapIsUnreadable) {
  ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive);
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), counted(l.stripe_sectors(), 1)), Status::ok);
  leave_a_hole(b, 9);
  for (auto* drive : b.drives) drive->unreadable.insert(l.bitmap_first);
  b.power_on_and_resync();
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

TEST(ArrayRegions, SurviveTheReplacementOfAMember) {
  for (std::uint32_t replaced = 0; replaced < 4; ++replaced) {
    SCOPED_TRACE(replaced);
    ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive);
    ASSERT_TRUE(b.open());
    const RaidLayout l = b.layout();
    ASSERT_TRUE(b.array->fail_member(replaced));
    ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), counted(l.stripe_sectors(), 1)), Status::ok);
    *b.stores[replaced] = bench::MemoryStore(kSectorsOfADrive);
    ASSERT_TRUE(b.array->rebuild(replaced));
    b.finish_background();
    // Lets the array record the member's new state in the superblocks.
    b.run_for(20 * kMillisecondNs);
    ASSERT_EQ(b.array->status().members[replaced], MemberState::active);
    leave_a_hole(b, 9);
    b.power_on_and_resync();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

/// Returns the bits of the first eight regions on a member.
std::byte bits_on(const ArrayFixture& b, std::uint32_t member) {
  return b.on_member(member, b.layout().bitmap_first, 1).front();
}

/// Writes to region 0 every 50 ms, so that the array as a whole is never idle.
void keep_writing(ArrayFixture& b, TimeNs how_long) {
  const auto data = counted(1, 3);
  for (const TimeNs end = b.simulation->now() + how_long; b.simulation->now() < end;) {
    ASSERT_EQ(b.write(0, data), Status::ok);
    b.run_for(50 * kMillisecondNs);
  }
}

TEST(ArrayRegions, BecomeCleanAfterAnIdlePeriod) {
  for (const bool volatile_cache : {false, true}) {
    SCOPED_TRACE(volatile_cache);
    ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive, 1,
                   {.volatile_cache = volatile_cache});
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(32, counted(1, 1)), Status::ok);  // region 1
    keep_writing(b, 4 * kSecondNs);
    EXPECT_EQ(bits_on(b, 0), std::byte{0b11});
    ASSERT_EQ(b.write(64, counted(1, 1)), Status::ok);  // region 2
    keep_writing(b, 2 * kSecondNs);
    keep_writing(b, 4 * kSecondNs);
    for (std::uint32_t m = 0; m < 4; ++m)
      EXPECT_EQ(bits_on(b, m) & std::byte{0b11}, std::byte{0b01}) << m;
    keep_writing(b, 5 * kSecondNs);
    EXPECT_EQ(bits_on(b, 0), std::byte{0b01});
    ASSERT_EQ(b.write(40, counted(1, 1)), Status::ok);  // marks region 1 again
    EXPECT_EQ(bits_on(b, 0), std::byte{0b11});
    b.drain();
    EXPECT_EQ(bits_on(b, 0), std::byte{0}) << "the whole array is idle";
  }
}

TEST(ArrayRegions, StayDirtyDuringAWrite) {
  ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive);
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), counted(l.stripe_sectors(), 1)), Status::ok);
  b.drives[l.member_of(9, l.data)]->stall_writes = true;
  const auto fresh = counted(l.unit, 2);
  b.submit_write(9ULL * l.stripe_sectors(), fresh);
  b.run_for(20 * kSecondNs);
  b.array->power_cut();
  b.run_for(0);
  for (auto* drive : b.drives) drive->stall_writes = false;
  ASSERT_EQ(b.wrong_stripes(), 1U);
  b.power_on_and_resync();
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

/// Tests that the members' caches are flushed before the bit of a region is cleared.
TEST(ArrayRegions, BecomeCleanOnlyAfterTheirWritesAreOnTheMedium) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(with_regions(array_profile(RaidLevel::raid5, 4)), kSectorsOfADrive, seed,
                   {.volatile_cache = true});
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(96, counted(36, 1)), Status::ok);
    ASSERT_EQ(b.write(99, counted(2, 2)), Status::ok);
    keep_writing(b, 12 * kSecondNs);
    ASSERT_EQ(bits_on(b, 0), std::byte{0b01});
    b.array->power_cut();
    b.run_for(0);
    b.power_on_and_resync();
    EXPECT_EQ(b.wrong_stripes(), 0U);
    EXPECT_EQ(b.read(99, 2), counted(2, 2));
  }
}

TEST(DirtyRegionsDeath, EndingAWriteThatDidNotBeginAborts) {
  DirtyRegions regions;
  regions.open(8, 16);
  EXPECT_TRUE(regions.begin(0, 31));
  regions.end(0, 31, 1);
  EXPECT_DEATH(regions.end(0, 31, 2), "each end of a write must match its beginning");
}

}  // namespace
}  // namespace headcrash::model
