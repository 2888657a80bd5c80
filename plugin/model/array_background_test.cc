// Rebuild, resync and scrub beside the host's requests: what they must not do is answer from, or compute
// with, what is only half there.
#include <gtest/gtest.h>

#include "plugin/model/array_test_bench.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayBench;

constexpr std::uint64_t kMemberLength = 400;

std::vector<std::byte> stamped(std::uint32_t sectors, std::uint64_t seed) {
  std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte((i * 5 + i / 512 * 19 + seed * 41) & 0xff);
  return bytes;
}

/// An array full of known data, and the replacement of a member under way.
struct Rebuilding {
  Rebuilding(const ArrayProfile& p, std::uint64_t seed, bench::MemberTraits traits)
      : b(p, kMemberLength, seed, traits) {
    const auto opened = b.open();
    EXPECT_TRUE(opened) << opened.error().message();
    all = static_cast<std::uint32_t>(b.array->characteristics().sectors);
    expected = stamped(all, seed);
    EXPECT_EQ(b.write(0, expected), Status::ok);
    member = static_cast<std::uint32_t>(seed % p.members);
    EXPECT_TRUE(b.array->fail_member(member));
    *b.stores[member] = bench::MemoryStore(kMemberLength);
    EXPECT_TRUE(b.array->rebuild(member));
  }
  bool goes_on() const { return !b.array->status().background.empty(); }
  std::vector<std::byte> part(std::uint64_t lba, std::uint32_t sectors) const {
    const auto from = expected.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes);
    return {from, from + static_cast<std::ptrdiff_t>(sectors) * kSectorBytes};
  }
  ArrayBench b;
  std::uint32_t all = 0, member = 0;
  std::vector<std::byte> expected;
};

TEST(ArrayRebuild, WhatIsNotYetThereIsComputed) {
  for (const RaidLevel level : {RaidLevel::raid1, RaidLevel::raid4, RaidLevel::raid5, RaidLevel::raid6}) {
    SCOPED_TRACE(static_cast<int>(level));
    ArrayProfile p = array_profile(level, 4);
    p.rebuild_bytes_per_second = 1000 * kSectorBytes;  // a chunk of 128 sectors, then a pause
    Rebuilding r(p, 2, {});
    int looks = 0;
    for (; r.goes_on(); ++looks) {
      ASSERT_EQ(r.b.read(0, r.all), r.expected);
      r.b.run_for(20 * kMillisecondNs);
    }
    EXPECT_GT(looks, 5);
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
  }
}

TEST(ArrayRebuild, WhatIsOnItsWayIsNotYetThere) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Rebuilding r(array_profile(RaidLevel::raid5, 4), seed,
                 {.delay_ns = kMillisecondNs / 10, .jitter_ns = 6 * kMillisecondNs});
    std::mt19937_64 random(seed);
    // Single blocks of the member in question: a read that goes straight to it takes no lock.
    const RaidLayout l = r.b.layout();
    while (r.goes_on()) {
      const std::uint64_t stripe = random() % l.stripes;
      const std::uint32_t role = l.role_of(stripe, r.member);
      if (role >= l.data) continue;
      const std::uint64_t lba = stripe * l.stripe_sectors() + std::uint64_t{role} * l.unit;
      ASSERT_EQ(r.b.read(lba, l.unit), r.part(lba, l.unit)) << "stripe " << stripe;
    }
  }
}

TEST(ArrayRebuild, IsOnTheMediumBeforeTheMemberCounts) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Rebuilding r(array_profile(RaidLevel::raid5, 4), seed, {.volatile_cache = true});
    r.b.finish(r.b.submit(Op::flush));
    while (r.b.array->status().members[r.member] != MemberState::active)
      ASSERT_TRUE(r.b.simulation->run_next());
    r.b.run_for(5 * kMillisecondNs);  // and is on record as such
    r.b.array->power_cut();
    r.b.run_for(0);
    r.b.array->power_on();
    r.b.drain();
    ASSERT_EQ(r.b.array->status().members[r.member], MemberState::active);
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
  }
}

TEST(ArrayRebuild, ItsEndIsOnRecord) {
  Rebuilding r(array_profile(RaidLevel::raid5, 4), 1, {});
  r.b.finish_background();
  r.b.run_for(5 * kMillisecondNs);
  r.b.array->power_cut();
  r.b.run_for(0);
  ASSERT_TRUE(r.b.open());
  EXPECT_EQ(r.b.array->status().members[r.member], MemberState::active);
}

TEST(ArrayScrub, MeetsWritesOnlyAtTheLocks) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    ArrayBench b(array_profile(RaidLevel::raid5, 4), kMemberLength, seed,
                 {.delay_ns = kMillisecondNs / 10, .jitter_ns = 4 * kMillisecondNs});
    ASSERT_TRUE(b.open());
    std::mt19937_64 random(seed);
    const std::uint64_t all = b.array->characteristics().sectors;
    std::deque<std::vector<std::byte>> buffers;
    std::deque<RequestId> flying;
    for (int scrubs = 0; scrubs < 6; ++scrubs) {
      ASSERT_TRUE(b.array->scrub(true));
      while (!b.array->status().background.empty()) {
        buffers.push_back(stamped(3, random()));
        flying.push_back(b.submit_write(random() % (all - 3), buffers.back()));
        if (flying.size() < 6) continue;
        b.finish(flying.front());
        flying.pop_front();
        buffers.pop_front();
      }
      EXPECT_EQ(b.array->status().mismatches, 0U);
    }
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(ArrayResync, IsNotOverUntilItIs) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 5);
  p.recovery = ArrayRecovery::resync;
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  ArrayBench b(p, kMemberLength);
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  constexpr std::uint64_t kStripe = 80;
  ASSERT_EQ(b.write(kStripe * l.stripe_sectors(), stamped(l.unit, 1)), Status::ok);
  b.drives[l.member_of(kStripe, l.data)]->stall_writes = true;
  const auto fresh = stamped(l.unit, 2);
  b.submit_write(kStripe * l.stripe_sectors(), fresh);
  b.run_for(20 * kMillisecondNs);
  for (int cut = 0; cut < 3; ++cut) {
    b.array->power_cut();
    b.run_for(0);
    for (auto* drive : b.drives) drive->stall_writes = false;
    EXPECT_EQ(b.wrong_stripes(), 1U);
    b.array->power_on();
    b.run_for(kSecondNs);  // long enough to be idle, not to come to the stripe
    EXPECT_EQ(b.array->status().background, "resync");
    EXPECT_TRUE(b.array->status().dirty);
  }
  b.finish_background();
  EXPECT_EQ(b.wrong_stripes(), 0U);
  EXPECT_EQ(b.array->status().mismatches, 1U);
}

}  // namespace
}  // namespace headcrash::model
