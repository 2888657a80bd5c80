// Tests rebuild, resync and scrub while host requests run. Neither reads nor parity may be based on
// incomplete data.
#include <gtest/gtest.h>

#include "plugin/model/testing/array_fixture.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayFixture;

constexpr std::uint64_t kMemberLength = 400;

std::vector<std::byte> stamped(std::uint32_t sectors, std::uint64_t seed) {
  std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte((i * 5 + i / 512 * 19 + seed * 41) & 0xff);
  return bytes;
}

/// An array that is full of known data and has a member that is being rebuilt.
struct Rebuilding {
  Rebuilding(const ArrayProfile& p, std::uint64_t seed, bench::MemberTraits traits)
      : b(p, kMemberLength, seed, traits) {
    const auto opened = b.open();
    EXPECT_TRUE(opened) << opened.error().message();
    all = static_cast<std::uint32_t>(b.array->characteristics().sectors);
    expected = stamped(all, seed);
    EXPECT_EQ(b.write(0, expected), Status::ok);
    EXPECT_EQ(b.finish(b.submit(Op::flush)).status,
              Status::ok);  // without this flush, the data could still be in the new drive's cache
    member = static_cast<std::uint32_t>(seed % p.members);
    EXPECT_TRUE(b.array->fail_member(member));
    *b.stores[member] = bench::MemoryStore(kMemberLength);
    EXPECT_TRUE(b.array->rebuild(member));
  }
  bool may_continue() const { return !b.array->status().background.empty(); }
  std::vector<std::byte> part(std::uint64_t lba, std::uint32_t sectors) const {
    const auto from = expected.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes);
    return {from, from + static_cast<std::ptrdiff_t>(sectors) * kSectorBytes};
  }
  ArrayFixture b;
  std::uint32_t all = 0, member = 0;
  std::vector<std::byte> expected;
};

TEST(ArrayRebuild, ReconstructsReadsOfStripesNotYetRebuilt) {
  for (const RaidLevel level :
       {RaidLevel::raid1, RaidLevel::raid4, RaidLevel::raid5, RaidLevel::raid6}) {
    SCOPED_TRACE(static_cast<int>(level));
    ArrayProfile p = array_profile(level, 4);
    p.rebuild_bytes_per_second = 1000 * kSectorBytes;  // slow enough to pause after each chunk
    Rebuilding r(p, 2, {});
    int looks = 0;
    for (; r.may_continue(); ++looks) {
      ASSERT_EQ(r.b.read(0, r.all), r.expected);
      r.b.run_for(20 * kMillisecondNs);
    }
    EXPECT_GT(looks, 5);
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
  }
}

TEST(ArrayRebuild, DoesNotReadTheNewMemberWithinTheChunkInProgress) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Rebuilding r(array_profile(RaidLevel::raid5, 4), seed,
                 {.delay_ns = kMillisecondNs / 10, .jitter_ns = 6 * kMillisecondNs});
    std::mt19937_64 random(seed);
    // Reads single blocks of the member that is being rebuilt. Such a read is sent directly to one
    // member, without a lock.
    const RaidLayout l = r.b.layout();
    while (r.may_continue()) {
      // Select a stripe in the chunk in progress or shortly after it.
      const std::uint64_t done = r.b.array->status().background_done / l.unit;
      const std::uint64_t stripe = std::min(done + random() % 32, l.stripes - 1);
      const std::uint32_t role = l.role_of(stripe, r.member);
      if (role >= l.data) continue;
      const std::uint64_t lba = stripe * l.stripe_sectors() + std::uint64_t{role} * l.unit;
      ASSERT_EQ(r.b.read(lba, l.unit), r.part(lba, l.unit)) << "stripe " << stripe;
    }
  }
}

TEST(ArrayRebuild, DataIsOnTheMediumBeforeTheMemberIsActive) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Rebuilding r(array_profile(RaidLevel::raid5, 4), seed, {.volatile_cache = true});
    r.b.finish(r.b.submit(Op::flush));
    while (r.b.array->status().members[r.member] != MemberState::active)
      ASSERT_TRUE(r.b.simulation->run_next());
    /// Gives the array time to update its superblocks.
    r.b.run_for(5 * kMillisecondNs);
    r.b.array->power_cut();
    r.b.run_for(0);
    r.b.array->power_on();
    r.b.drain();
    ASSERT_EQ(r.b.array->status().members[r.member], MemberState::active);
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
  }
}

/// A flush must also cover the mirror that is being rebuilt. Otherwise, a cut could leave older
/// data on this mirror, and the comparison of the copies cannot determine which copy is newer.
TEST(ArrayRebuild, FlushAlsoFlushesTheMirrorBeingRebuilt) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    ArrayProfile p = array_profile(RaidLevel::raid1, 3);
    p.recovery = ArrayRecovery::resync;
    p.rebuild_bytes_per_second = 100 * kSectorBytes;
    // If the copies differ, the comparison overwrites them with member 0's copy.
    Rebuilding r(p, seed * 3, {.volatile_cache = true});
    while (r.b.array->status().background_done < 256) ASSERT_TRUE(r.b.simulation->run_next());
    r.b.run_for(kSecondNs / 2);
    const auto fresh = stamped(8, 99);
    ASSERT_EQ(r.b.write(16, fresh), Status::ok);
    ASSERT_EQ(r.b.finish(r.b.submit(Op::flush)).status, Status::ok);
    r.b.array->power_cut();
    r.b.run_for(0);
    r.b.array->power_on();
    for (int reads = 0; reads < 6; ++reads) EXPECT_EQ(r.b.read(16, 8), fresh);
    r.b.array->set_rebuild_rate(0);
    r.b.finish_background();
    r.b.drain();
    EXPECT_EQ(r.b.read(16, 8), fresh);
    EXPECT_EQ(r.b.wrong_stripes(), 0U);
  }
}

/// At power-on, the array finds a new drive in place of the one that was being rebuilt. The
/// superblock that it then writes must not contain the progress of the old drive.
TEST(ArrayRebuild, StartsOverOnADriveReplacedDuringACut) {
  for (int events = 0; events < 60; ++events) {
    SCOPED_TRACE(events);
    ArrayProfile p = array_profile(RaidLevel::raid5, 4);
    p.rebuild_bytes_per_second = 100 * kSectorBytes;
    Rebuilding r(p, 1, {});
    while (r.b.array->status().background_done < 256) ASSERT_TRUE(r.b.simulation->run_next());
    r.b.run_for(kSecondNs / 2);
    const auto cut = [&] {
      r.b.array->power_cut();
      r.b.run_for(0);
    };
    cut();
    *r.b.stores[r.member] = bench::MemoryStore(kMemberLength);
    r.b.array->power_on();
    for (int i = 0; i < events; ++i) r.b.simulation->run_next();
    cut();
    r.b.array->set_rebuild_rate(0);
    r.b.array->power_on();
    r.b.drain();
    EXPECT_EQ(r.b.array->status().members[r.member], MemberState::active);
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
    EXPECT_EQ(r.b.wrong_stripes(), 0U);
  }
}

TEST(ArrayRebuild, ReadsOfAMirrorUseTheOtherMembers) {
  ArrayProfile p = array_profile(RaidLevel::raid1, 3);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  Rebuilding r(p, 3, {});
  const std::uint64_t before = r.b.array->array_counters().degraded_reads;
  for (std::uint64_t lba = 300; lba < 380; lba += 8) EXPECT_EQ(r.b.read(lba, 8), r.part(lba, 8));
  EXPECT_EQ(r.b.array->array_counters().degraded_reads, before) << "nothing must be computed";
}

TEST(ArrayRebuild, RecordsItsCompletion) {
  Rebuilding r(array_profile(RaidLevel::raid5, 4), 1, {});
  r.b.finish_background();
  r.b.run_for(5 * kMillisecondNs);
  r.b.array->power_cut();
  r.b.run_for(0);
  ASSERT_TRUE(r.b.open());
  EXPECT_EQ(r.b.array->status().members[r.member], MemberState::active);
}

/// Cuts the power once `chunks` chunks have been rebuilt and recorded in the superblocks.
void cut_after_chunks(Rebuilding& r, std::uint64_t chunks) {
  const std::uint64_t chunk = 128;
  while (r.b.array->status().background_done < chunks * chunk)
    ASSERT_TRUE(r.b.simulation->run_next());
  r.b.run_for(10 * kMillisecondNs);
  r.b.array->power_cut();
  r.b.run_for(0);
}

std::uint64_t sectors_read(const Rebuilding& r) {
  return r.b.member_totals().sectors_read;
}

TEST(ArrayRebuild, ResumesAfterACut) {
  for (const RaidLevel level :
       {RaidLevel::raid1, RaidLevel::raid4, RaidLevel::raid5, RaidLevel::raid6}) {
    for (const bool volatile_cache : {false, true}) {
      for (const bool new_server : {false, true}) {
        SCOPED_TRACE(
            fmt::format("level {} {} {}", static_cast<int>(level), volatile_cache, new_server));
        ArrayProfile p = array_profile(level, 4);
        p.rebuild_bytes_per_second = 100 * kSectorBytes;
        Rebuilding r(p, 2, {.volatile_cache = volatile_cache});
        r.b.finish(r.b.submit(Op::flush));
        r.b.run_for(kSecondNs / 2);  // long enough for the array to become clean
        cut_after_chunks(r, 2);
        if (new_server) {
          ASSERT_TRUE(r.b.open());
        } else {
          r.b.array->power_on();
          r.b.run_for(5 * kMillisecondNs);
        }
        EXPECT_EQ(r.b.array->status().background, "rebuild");
        EXPECT_GE(r.b.array->status().background_done, 256U);
        const std::uint64_t before = sectors_read(r);
        ASSERT_EQ(r.b.read(0, r.all), r.expected);
        r.b.array->set_rebuild_rate(0);
        r.b.finish_background();
        EXPECT_EQ(r.b.array->status().members[r.member], MemberState::active);
        EXPECT_LT(sectors_read(r) - before, 4 * 400U)
            << "completed stripes must not be rebuilt again";
        EXPECT_EQ(r.b.read(0, r.all), r.expected);
        r.b.drain();
        EXPECT_EQ(r.b.wrong_stripes(), 0U);
      }
    }
  }
}

TEST(ArrayRebuild, StartsOverOnAnotherDrive) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  for (const bool old_copy : {false, true}) {
    SCOPED_TRACE(old_copy);
    Rebuilding r(p, 2, {});
    r.b.run_for(kSecondNs / 2);
    const bench::MemoryStore copy = *r.b.stores[r.member];
    cut_after_chunks(r, 2);
    *r.b.stores[r.member] = old_copy ? copy : bench::MemoryStore(kMemberLength);
    ASSERT_TRUE(r.b.open());
    EXPECT_EQ(r.b.array->status().background, "rebuild");
    EXPECT_LT(r.b.array->status().background_done, 256U);
    ASSERT_EQ(r.b.read(0, r.all), r.expected);
    r.b.finish_background();
    EXPECT_EQ(r.b.read(0, r.all), r.expected);
    r.b.drain();
    EXPECT_EQ(r.b.wrong_stripes(), 0U);
  }
}

/// The member's drive is replaced by a copy of the member from an earlier rebuild. The copy's
/// superblock records more rebuilt stripes, but its data is older.
TEST(ArrayRebuild, StartsOverOnAStaleCopyOfTheMember) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  Rebuilding r(p, 2, {});
  while (r.b.array->status().background_done < 256) ASSERT_TRUE(r.b.simulation->run_next());
  r.b.run_for(kSecondNs / 2);
  const bench::MemoryStore copy = *r.b.stores[r.member];
  ASSERT_TRUE(r.b.array->fail_member(r.member));
  r.expected = stamped(r.all, 77);
  ASSERT_EQ(r.b.write(0, r.expected), Status::ok);
  while (!r.b.array->status().background.empty()) ASSERT_TRUE(r.b.simulation->run_next());
  ASSERT_TRUE(r.b.array->rebuild(r.member));
  r.b.run_for(kSecondNs / 2);
  ASSERT_EQ(r.b.array->status().background_done, 128U);
  r.b.array->power_cut();
  r.b.run_for(0);
  *r.b.stores[r.member] = copy;
  ASSERT_TRUE(r.b.open());
  EXPECT_EQ(r.b.read(0, r.all), r.expected);
  r.b.finish_background();
  EXPECT_EQ(r.b.read(0, r.all), r.expected);
}

TEST(ArrayRebuild, StartsOverAfterInterruptedUpdates) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  p.accept_dirty_degraded = true;
  Rebuilding r(p, 2, {});
  r.b.run_for(kSecondNs / 2);
  while (r.b.array->status().background_done < 256) ASSERT_TRUE(r.b.simulation->run_next());
  const RaidLayout l = r.b.layout();
  const std::uint64_t stripe = l.member_of(0, l.data) == r.member ? 1 : 0;
  ASSERT_EQ(r.b.write(stripe * l.stripe_sectors(), stamped(1, 8)),
            Status::ok);  // this also marks the array dirty in the superblocks
  r.b.drives[l.member_of(stripe, l.data)]->stall_writes = true;
  const auto fresh = stamped(1, 9);
  r.b.submit_write(stripe * l.stripe_sectors(), fresh);
  r.b.run_for(20 * kMillisecondNs);
  r.b.array->power_cut();
  r.b.run_for(0);
  for (auto* drive : r.b.drives) drive->stall_writes = false;
  r.b.array->power_on();
  r.b.run_for(5 * kMillisecondNs);
  EXPECT_LT(r.b.array->status().background_done, 256U);
  r.b.finish_background();
  r.b.drain();
  EXPECT_EQ(r.b.wrong_stripes(), 0U);
}

TEST(ArrayRebuild, ResumesAfterAnAcceptedDirtyDegradedStart) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  Rebuilding r(p, 2, {});
  r.b.run_for(20 * kMillisecondNs);  // the members are still marked dirty
  r.b.array->power_cut();
  r.b.run_for(0);
  r.b.array->power_on();
  r.b.run_for(20 * kMillisecondNs);
  ASSERT_TRUE(r.b.array->status().refused.has_value());
  ASSERT_TRUE(r.b.array->accept_dirty_degraded());
  EXPECT_EQ(r.b.array->status().background, "rebuild");
  r.b.finish_background();
  EXPECT_EQ(r.b.array->status().members[r.member], MemberState::active);
  EXPECT_EQ(r.b.read(0, r.all), r.expected);
}

TEST(ArrayRebuild, IsFollowedByAResyncIfTheMirrorIsDirty) {
  ArrayProfile p = array_profile(RaidLevel::raid1, 3);
  p.recovery = ArrayRecovery::resync;
  Rebuilding r(p, 2, {});
  ASSERT_EQ(r.b.write(0, stamped(8, 8)), Status::ok);
  r.b.drives[0]->stall_writes = true;
  const auto fresh = stamped(8, 9);
  r.b.submit_write(0, fresh);
  r.b.run_for(2 * kMillisecondNs);
  r.b.array->power_cut();
  r.b.run_for(0);
  for (auto* drive : r.b.drives) drive->stall_writes = false;
  r.b.array->power_on();
  r.b.drain();
  EXPECT_FALSE(r.b.array->status().dirty);
  EXPECT_EQ(r.b.wrong_stripes(), 0U);
}

TEST(ArrayScrub, KeepsParityConsistentDuringWrites) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(array_profile(RaidLevel::raid5, 4), kMemberLength, seed,
                   {.delay_ns = kMillisecondNs / 10, .jitter_ns = 4 * kMillisecondNs});
    ASSERT_TRUE(b.open());
    std::mt19937_64 random(seed);
    const std::uint64_t all = b.array->characteristics().sectors;
    std::deque<std::vector<std::byte>> buffers;
    std::deque<RequestId> pending;
    for (int scrubs = 0; scrubs < 6; ++scrubs) {
      ASSERT_TRUE(b.array->scrub(true));
      while (!b.array->status().background.empty()) {
        buffers.push_back(stamped(3, random()));
        pending.push_back(b.submit_write(random() % (all - 3), buffers.back()));
        if (pending.size() < 6) continue;
        b.finish(pending.front());
        pending.pop_front();
        buffers.pop_front();
      }
      EXPECT_EQ(b.array->status().mismatches, 0U);
    }
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(ArrayResync, KeepsTheArrayMarkedUncleanUntilItEnds) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 5);
  p.recovery = ArrayRecovery::resync;
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  ArrayFixture b(p, kMemberLength);
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
    // Long enough for an idle array to be marked clean. This array must stay dirty, because the
    // resync has not yet reached the stripe.
    b.run_for(kSecondNs);
    EXPECT_EQ(b.array->status().background, "resync");
    EXPECT_TRUE(b.array->status().dirty);
  }
  b.finish_background();
  EXPECT_EQ(b.wrong_stripes(), 0U);
  EXPECT_EQ(b.array->status().mismatches, 1U);
}

}  // namespace
}  // namespace headcrash::model
