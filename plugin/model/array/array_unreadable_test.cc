// Tests unreadable sectors of members during scrub, resync and rebuild. Sectors that cannot be
// reconstructed must stay unreadable, and no parity must be computed from their contents.
#include <gtest/gtest.h>

#include "plugin/model/testing/array_fixture.h"

// Some presets compile all tests as one source file. This namespace prevents name collisions.
namespace headcrash::model::array_unreadable_test {
namespace {

using bench::array_profile;
using bench::ArrayFixture;
using bench::counted;

constexpr std::uint64_t kMemberLength = 400;
constexpr std::uint32_t kRowsOfCluster = 4;

/// An idle array that is full of known data.
struct FullArray {
  FullArray(const ArrayProfile& profile, std::uint64_t seed, bench::MemberTraits traits)
      : b(profile, kMemberLength, seed, traits), random(seed) {
    const auto opened = b.open();
    EXPECT_TRUE(opened) << opened.error().message();
    sectors = static_cast<std::uint32_t>(b.array->characteristics().sectors);
    expected = counted(sectors, static_cast<int>(seed));
    EXPECT_EQ(b.write(0, expected), Status::ok);
    EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
    b.drain();
  }

  /// Makes several clusters of sectors unreadable. Within a cluster, some rows lose more sectors
  /// than the redundancy can replace.
  void lose_sectors() {
    const RaidLayout l = b.layout();
    for (int clusters = 0; clusters < 4; ++clusters) {
      const std::uint64_t stripe = random() % l.stripes;
      for (int i = 0; i < 12; ++i) {
        const std::uint32_t row = static_cast<std::uint32_t>(random()) %
                                  std::min(l.unit, kRowsOfCluster * b.traits.physical_sectors);
        const std::uint64_t lba = l.member_lba(stripe, row);
        const std::uint64_t first = lba / b.traits.physical_sectors * b.traits.physical_sectors;
        for (std::uint32_t s = 0; s < b.traits.physical_sectors; ++s)
          b.drives[random_member]->unreadable.insert(first + s);
        random_member = static_cast<std::uint32_t>(random() % l.members);
      }
    }
  }
  /// Returns the number of members that cannot read this row of a stripe.
  std::uint32_t bad_members(std::uint64_t lba) const {
    std::uint32_t bad = 0;
    for (const auto* drive : b.drives) bad += drive->unreadable.count(lba) > 0 ? 1 : 0;
    return bad;
  }
  /// Corrupts parity in rows that all members can read.
  void spoil_parity() {
    const RaidLayout l = b.layout();
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t stripe = random() % l.stripes;
      const std::uint64_t lba = l.member_lba(stripe, static_cast<std::uint32_t>(random() % l.unit));
      if (bad_members(lba) > 0) continue;
      const std::uint32_t m = l.member_of(stripe, l.data);
      std::vector<std::byte> bytes = b.on_member(m, lba, 1);
      for (std::byte& byte : bytes) byte ^= std::byte{0x5a};
      ASSERT_TRUE(b.stores[m]->write(lba, bytes));
    }
  }
  std::uint64_t rows_beyond_repair() const {
    const RaidLayout l = b.layout();
    std::uint64_t rows = 0;
    for (std::uint64_t lba = l.member_lba(0, 0); lba < l.member_lba(l.stripes - 1, 0) + l.unit;
         ++lba)
      rows += bad_members(lba) > l.parity ? 1 : 0;
    return rows;
  }
  void expect_rows_within_repair_repaired() const {
    for (std::uint64_t lba = 0; lba < kMemberLength; ++lba) {
      const std::uint32_t bad = bad_members(lba);
      EXPECT_TRUE(bad == 0 || bad > b.layout().parity) << "row at " << lba << " of the members";
    }
  }
  void expect_right_or_unreadable() {
    for (std::uint32_t s = 0; s < sectors; ++s) {
      Status status = Status::ok;
      const auto bytes = b.read(s, 1, &status);
      if (status != Status::ok) continue;
      EXPECT_EQ(
          std::memcmp(bytes.data(), expected.data() + std::size_t{s} * kSectorBytes, kSectorBytes),
          0)
          << "sector " << s;
    }
  }

  ArrayFixture b;
  std::mt19937_64 random;
  std::uint32_t sectors = 0;
  std::uint32_t random_member = 0;
  std::vector<std::byte> expected;
};

struct Kind {
  const char* name;
  RaidLevel level;
  std::uint32_t members;
  std::uint32_t unit = 4;
  std::uint32_t physical_sectors = 1;
};

constexpr Kind kKinds[] = {
    {"raid1", RaidLevel::raid1, 3},        {"raid1_of_two", RaidLevel::raid1, 2},
    {"raid4", RaidLevel::raid4, 4},        {"raid5", RaidLevel::raid5, 4},
    {"raid5_of_two", RaidLevel::raid5, 2}, {"raid5_4k", RaidLevel::raid5, 4, 16, 8},
    {"raid6", RaidLevel::raid6, 5},
};
constexpr std::uint64_t kSeeds = 12;

class ArrayUnreadable : public testing::TestWithParam<Kind> {
 protected:
  static FullArray full_array(std::uint64_t seed) {
    ArrayProfile p = array_profile(GetParam().level, GetParam().members, GetParam().unit);
    p.recovery = ArrayRecovery::resync;
    bench::MemberTraits traits;
    traits.physical_sectors = GetParam().physical_sectors;
    return {p, seed, traits};
  }
};

TEST_P(ArrayUnreadable, ScrubLeavesUnknownSectorsUnreadable) {
  std::uint64_t beyond = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FullArray a = full_array(seed);
    a.lose_sectors();
    a.spoil_parity();
    const std::uint64_t rows = a.rows_beyond_repair();
    beyond += rows;
    ASSERT_TRUE(a.b.array->scrub(true));
    a.b.finish_background();
    EXPECT_EQ(a.b.wrong_stripes(), 0U) << "parity must come from known bytes";
    EXPECT_EQ(a.rows_beyond_repair(), rows);
    a.expect_rows_within_repair_repaired();
    a.expect_right_or_unreadable();
  }
  EXPECT_GT(beyond, 0U) << "the test needs rows beyond repair";
}

TEST_P(ArrayUnreadable, CheckOnlyScrubLeavesUnknownSectorsUnreadable) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FullArray a = full_array(seed);
    a.lose_sectors();
    const std::uint64_t rows = a.rows_beyond_repair();
    ASSERT_TRUE(a.b.array->scrub(false));
    a.b.finish_background();
    EXPECT_EQ(a.b.array->status().mismatches, 0U);
    EXPECT_EQ(a.rows_beyond_repair(), rows);
    EXPECT_EQ(a.b.wrong_stripes(), 0U);
    a.expect_right_or_unreadable();
  }
}

TEST_P(ArrayUnreadable, ResyncLeavesUnknownSectorsUnreadable) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FullArray a = full_array(seed);
    // Rewriting the old bytes makes the array dirty, but interrupts no update.
    ASSERT_EQ(
        a.b.write(0, std::vector<std::byte>(a.expected.begin(), a.expected.begin() + kSectorBytes)),
        Status::ok);
    a.b.array->power_cut();
    a.b.run_for(0);
    a.lose_sectors();
    a.spoil_parity();
    const std::uint64_t rows = a.rows_beyond_repair();
    a.b.power_on_and_resync();
    a.b.drain();
    EXPECT_FALSE(a.b.array->status().dirty);
    EXPECT_EQ(a.b.wrong_stripes(), 0U);
    EXPECT_EQ(a.rows_beyond_repair(), rows);
    a.expect_right_or_unreadable();
  }
}

TEST_P(ArrayUnreadable, RebuildYieldsCorrectBytesOrIsAbandoned) {
  std::uint64_t given_up = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FullArray a = full_array(seed);
    a.lose_sectors();
    const auto member = static_cast<std::uint32_t>(seed % GetParam().members);
    ASSERT_TRUE(a.b.array->fail_member(member));
    *a.b.stores[member] = bench::MemoryStore(kMemberLength);
    a.b.drives[member]->unreadable.clear();
    ASSERT_TRUE(a.b.array->rebuild(member));
    a.b.finish_background();
    const bool whole = a.b.array->status().members[member] == MemberState::active;
    given_up += whole ? 0 : 1;
    if (whole) {
      EXPECT_EQ(a.b.wrong_stripes(), 0U);
    }
    a.expect_right_or_unreadable();
  }
  EXPECT_TRUE(given_up > 0 || GetParam().members > 4 || GetParam().level == RaidLevel::raid1);
}

INSTANTIATE_TEST_SUITE_P(Profiles, ArrayUnreadable, testing::ValuesIn(kKinds),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace headcrash::model::array_unreadable_test
