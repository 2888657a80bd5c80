// Tests the order in which metadata is written, and how a start after a cut uses the metadata. Also
// tests lost members and stripe locks. See array_regions_test.cc for the region maps, and
// array_prewrite_test.cc for the log. Each test was written for a seeded defect that no other test
// detected.
#include <gtest/gtest.h>

#include "plugin/model/array/prewrite_log.h"
#include "plugin/model/array/stripe_locks.h"
#include "plugin/model/array/stripe_plan.h"
#include "plugin/model/array/superblock.h"
#include "plugin/model/testing/array_fixture.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayFixture;
using bench::counted;
using bench::TestMember;

constexpr std::uint64_t kDriveSectors = 400;

ArrayProfile with_prewrites(ArrayProfile p) {
  p.recovery = ArrayRecovery::prewrite;
  p.prewrite_sectors = 64;
  return p;
}

// ---- torn metadata records

template <typename Record>
void expect_every_byte_is_checked(const Record& record) {
  std::array<std::byte, kSectorBytes> sector{};
  record.encode(sector);
  ASSERT_TRUE(Record::decode(sector).has_value());
  for (std::size_t i = 0; i < sector.size(); ++i) {
    sector[i] ^= std::byte{0x10};
    EXPECT_FALSE(Record::decode(sector).has_value()) << "byte " << i;
    sector[i] ^= std::byte{0x10};
  }
}

TEST(ArrayRecords, AreInvalidIfAnyByteChanges) {
  Superblock superblock;
  superblock.array_id = 7;
  superblock.members = 5;
  expect_every_byte_is_checked(superblock);
  PrewriteHeader header;
  header.array_id = 7;
  header.sequence = 9;
  expect_every_byte_is_checked(header);
}

TEST(ArrayRecords, ATornSuperblockLeavesTheOlderOne) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 4), kDriveSectors);
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(1, 1)), Status::ok);
  b.array->shut_down();
  for (std::uint32_t m = 0; m < 4; ++m) {
    std::optional<Superblock> newest;
    std::uint64_t at = 0;
    for (std::uint32_t slot = 0; slot < kSuperblockSlots; ++slot) {
      const auto one = Superblock::decode(b.on_member(m, slot * kSuperblockSectors, 1));
      ASSERT_TRUE(one.has_value());
      if (newest && newest->events > one->events) continue;
      newest = one;
      at = slot * kSuperblockSectors;
    }
    newest->failed = 1U << 2;
    auto torn = b.on_member(m, at, 1);
    std::vector<std::byte> changed(kSectorBytes);
    newest->encode(changed);
    std::copy_n(changed.begin(), 200,
                torn.begin());  // the checksum at the end is still that of the old contents
    ASSERT_TRUE(b.stores[m]->write(at, torn));
  }
  const auto opened = b.open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(b.array->status().members[2], MemberState::active);
}

TEST(ArrayRecords, AnOldCopyOfAMemberIsRejected) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 4), kDriveSectors);
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(1, 1)), Status::ok);
  b.array->shut_down();
  const bench::MemoryStore copy = *b.stores[1];
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(1, 2)), Status::ok);
    b.array->shut_down();
  }
  *b.stores[1] = copy;
  const auto opened = b.open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("member 1: is older than the other members"),
            std::string::npos);
}

// ---- a member that missed a write

/// A write is acknowledged although a failing member has missed it. Then the power is cut, and the
/// member returns without a fault.
void expect_loss_is_on_record(ArrayProfile p, std::uint64_t lba, std::uint32_t sectors) {
  SCOPED_TRACE(fmt::format("level {}, {} sectors", static_cast<int>(p.level), sectors));
  p.accept_dirty_degraded = true;
  ArrayFixture b(p, kDriveSectors);
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(200, 1)), Status::ok);
  const RaidLayout l = b.layout();
  const std::uint64_t stripe = lba / l.stripe_sectors();
  const std::uint32_t m =
      l.member_of(stripe, static_cast<std::uint32_t>(lba % l.stripe_sectors() / l.unit));
  b.drives[m]->dead = true;
  const auto fresh = counted(sectors, 2);
  ASSERT_EQ(b.write(lba, fresh), Status::ok);
  for (auto* drive : b.drives) drive->stall_writes = true;  // commands in flight never complete
  b.array->power_cut();
  b.run_for(0);
  ASSERT_TRUE(b.open());  // a new server; all members are available now
  EXPECT_EQ(b.array->status().members[m], MemberState::failed);
  EXPECT_EQ(b.read(lba, sectors), fresh);
}

TEST(ArrayLoss, IsRecordedBeforeAWriteThatMissesTheMemberIsAcknowledged) {
  expect_loss_is_on_record(array_profile(RaidLevel::raid5, 5), 32, 4);
  expect_loss_is_on_record(array_profile(RaidLevel::raid5, 5), 32, 16);
  expect_loss_is_on_record(array_profile(RaidLevel::raid6, 5), 24, 5);
  expect_loss_is_on_record(array_profile(RaidLevel::raid1, 2), 32, 4);
}

/// If a second member is lost while a stripe is being logged, too few members have the record, so
/// the write fails.
TEST(ArrayLoss, LosingASecondMemberDuringLoggingFailsTheWrite) {
  for (const bool second : {false, true}) {
    SCOPED_TRACE(second);
    ArrayFixture b(with_prewrites(array_profile(RaidLevel::raid5, 4)), kDriveSectors);
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(24, 1)), Status::ok);
    if (second) {
      ASSERT_TRUE(b.array->fail_member(0));
    }
    ASSERT_EQ(b.write(0, counted(12, 2)), Status::ok);
    // Long enough to write the data and the superblocks, but too short for the array to become
    // clean.
    b.run_for(50 * kMillisecondNs);
    b.drives[1]->dead = true;
    EXPECT_EQ(b.write(0, counted(12, 3)), second ? Status::device_failed : Status::ok);
    b.drain();
    EXPECT_EQ(b.write(0, counted(12, 4)), second ? Status::device_failed : Status::ok);
  }
}

TEST(ArrayFua, ReachesTheMediumOfMembersWithVolatileCaches) {
  for (const RaidLevel level : {RaidLevel::raid0, RaidLevel::raid1, RaidLevel::raid5}) {
    for (const std::uint32_t sectors : {3U, 24U}) {
      SCOPED_TRACE(fmt::format("level {}, {} sectors", static_cast<int>(level), sectors));
      ArrayFixture b(array_profile(level, 4), kDriveSectors, 1, {.volatile_cache = true});
      ASSERT_TRUE(b.open());
      const auto fresh = counted(sectors, 2);
      Request r;
      r.op = Op::write;
      r.fua = true;
      r.sectors = sectors;
      r.data = fresh;
      ASSERT_EQ(b.finish(b.submit(r)).status, Status::ok);
      b.array->power_cut();
      b.run_for(0);
      b.array->power_on();
      EXPECT_EQ(b.read(0, sectors), fresh);
    }
  }
}

/// If a repaired sector were only in the volatile cache, a cut would make it unreadable again, and
/// another member may be lost by then.
TEST(ArrayRepair, ReachesTheMediumOfMembersWithVolatileCaches) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(array_profile(RaidLevel::raid5, 4), kDriveSectors, seed,
                   {.volatile_cache = true});
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(12, 1)), Status::ok);
    ASSERT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
    const RaidLayout l = b.layout();
    TestMember& drive = *b.drives[l.member_of(0, 0)];
    drive.unreadable = {l.member_lba(0, 1)};
    EXPECT_EQ(b.read(0, 4), counted(4, 1));
    EXPECT_EQ(b.array->array_counters().repaired_sectors, 1U);
    b.array->power_cut();
    b.run_for(0);
    EXPECT_TRUE(drive.unreadable.empty());
  }
}

TEST(ArrayTrim, KeepsParityConsistentDuringWrites) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(array_profile(RaidLevel::raid5, 4), kDriveSectors, seed,
                   {.trim = true, .jitter_ns = 5 * kMillisecondNs});
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(120, 1)), Status::ok);
    const auto fresh = counted(3, 2);
    for (std::uint64_t i = 0; i < 8; ++i) {
      b.submit_write(i * 12 + 2, fresh);
      b.submit(Op::trim, 0, 96);
      b.run_for(2 * kMillisecondNs);
    }
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

/// After a cut, the controller's cache must be empty. The cached stripes may be newer than the
/// media, because the members' volatile caches were lost.
TEST(ArrayStripeCache, IsEmptyAfterACut) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.stripe_cache_stripes = 4;
  p.recovery = ArrayRecovery::resync;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(p, kDriveSectors, seed, {.volatile_cache = true});
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(12, 1)), Status::ok);
    ASSERT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
    ASSERT_EQ(b.write(0, counted(1, 2)), Status::ok);
    b.array->power_cut();
    b.run_for(0);
    b.power_on_and_resync();
    /// Writes another data column. The new parity is computed from the old parity, so the new
    /// parity is right only if the resync has corrected the old one.
    ASSERT_EQ(b.write(4, counted(1, 3)), Status::ok);
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

/// A start reads the states of the members from their superblocks, so a failure that the operator
/// injects during the start would be lost.
TEST(ArrayLoss, AMemberCannotBeFailedDuringTheStart) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 5), kDriveSectors);
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(64, 1)), Status::ok);
  b.drain();
  b.array->power_cut();
  b.array->power_on();
  const auto early = b.array->fail_member(1);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().problem, "has not started yet");
  b.run_for(kSecondNs);
  ASSERT_TRUE(b.array->fail_member(1));
  b.run_for(kSecondNs);
  b.array->power_cut();
  b.array->power_on();
  b.run_for(kSecondNs);
  EXPECT_EQ(b.array->status().members[1], MemberState::failed);
}

TEST(ArrayMirror, ReadsUseActiveMembersOnly) {
  ArrayFixture b(array_profile(RaidLevel::raid1, 3), kDriveSectors);
  ASSERT_TRUE(b.open());
  ASSERT_EQ(b.write(0, counted(64, 1)), Status::ok);
  ASSERT_TRUE(b.array->fail_member(0));
  b.run_for(kSecondNs);
  const DeviceCounters before = b.member_totals();
  for (std::uint64_t lba = 64; lba < 128; lba += 8)
    EXPECT_EQ(b.read(lba, 8).size(), 8U * kSectorBytes);
  EXPECT_EQ(b.member_totals().reads - before.reads, 8U);
  EXPECT_EQ(b.array->array_counters().degraded_reads, 0U) << "another mirror has the data";
}

// ---- members with physical sectors of 4 KiB

TEST(PhysicalSectors, AreReadAndWrittenWhole) {
  const RaidLayout l = [] {
    ArrayProfile p = array_profile(RaidLevel::raid5, 5, 16);
    return RaidLayout::of(p, kDriveSectors);
  }();
  const auto same = [](const RowRange& rows, std::uint32_t first, std::uint32_t last) {
    return rows.first == first && rows.last == last;
  };
  const StripePlan small = plan_write(l, 16 + 3, 16 + 5, 0, 8);
  EXPECT_EQ(small.method, WriteMethod::read_modify);
  EXPECT_TRUE(same(small.changed[1], 3, 5));
  EXPECT_TRUE(same(small.read[1], 0, 8));
  EXPECT_TRUE(same(small.write[1], 0, 8));
  EXPECT_TRUE(same(small.read[4], 0, 8));
  EXPECT_TRUE(same(small.write[4], 0, 8));
  const StripePlan rebuilt = plan_write(l, 5, 3 * 16 + 9, 0, 8);
  EXPECT_EQ(rebuilt.method, WriteMethod::reconstruct);
  EXPECT_TRUE(same(rebuilt.read[0], 0, 16));
  EXPECT_TRUE(same(rebuilt.write[0], 0, 16));
  EXPECT_TRUE(same(rebuilt.write[3], 0, 16));
  const StripePlan no_parity = plan_write(l, 16 + 3, 16 + 5, 1U << 4, 8);
  EXPECT_EQ(no_parity.method, WriteMethod::data_only);
  EXPECT_TRUE(same(no_parity.write[1], 3, 5)) << "nothing was read, so no neighbour can be written";
}

TEST(PhysicalSectors, CannotBeSharedByStripeUnitsOrSuperblocks) {
  const auto message = [](std::uint32_t unit, std::uint32_t physical) {
    ArrayFixture b(array_profile(RaidLevel::raid5, 4, unit), kDriveSectors, 1,
                   {.physical_sectors = physical});
    const auto opened = b.open();
    return opened ? std::string() : opened.error().message();
  };
  EXPECT_EQ(message(16, 8), "");
  EXPECT_NE(message(12, 8).find(
                "is not a multiple of the members' physical sector size; use a multiple of 8"),
            std::string::npos);
  EXPECT_NE(message(16, 16).find("both superblocks"), std::string::npos);
}

/// The host writes one sector, and a cut makes the physical sectors with its data and its parity
/// unreadable. The log must contain all that is needed to restore these physical sectors.
TEST(PhysicalSectors, NeighboursInAPhysicalSectorSurviveACutDuringALoggedWrite) {
  ArrayProfile p = with_prewrites(array_profile(RaidLevel::raid5, 4, 8));
  p.prewrite_sectors = 256;
  ArrayFixture b(p, kDriveSectors, 1, {.physical_sectors = 8});
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  auto expected = counted(l.stripe_sectors() * 10, 1);
  ASSERT_EQ(b.write(0, expected), Status::ok);
  b.run_for(50 * kMillisecondNs);
  const std::uint64_t lba = 4ULL * l.stripe_sectors() + 3;
  const auto fresh = counted(1, 2);
  ASSERT_EQ(b.write(lba, fresh), Status::ok);
  for (auto* drive : b.drives) drive->stall_writes = true;
  b.array->power_cut();
  b.run_for(0);
  for (auto* drive : b.drives) drive->stall_writes = false;
  for (const std::uint32_t role : {0U, l.data}) {
    for (std::uint32_t row = 0; row < 8; ++row)
      b.drives[l.member_of(4, role)]->unreadable.insert(l.member_lba(4, row));
  }
  b.array->power_on();
  std::copy(fresh.begin(), fresh.end(),
            expected.begin() + static_cast<std::ptrdiff_t>(lba * kSectorBytes));
  EXPECT_EQ(b.read(0, l.stripe_sectors() * 10), expected);
  EXPECT_EQ(b.array->array_counters().repaired_sectors, 0U);
}

// ---- locks

TEST(Locks, AreGrantedInOrderAmongOverlappingRequests) {
  int first = 0, second = 0, third = 0;
  const auto waiter = [](int& of) { return std::coroutine_handle<>::from_address(&of); };
  StripeLocks locks;
  ASSERT_TRUE(locks.try_lock(0, 0));
  ASSERT_TRUE(locks.try_lock(3, 3));
  EXPECT_FALSE(locks.try_lock(0, 3));
  locks.wait(0, 3, waiter(first));
  EXPECT_FALSE(locks.try_lock(2, 2)) << "another request already waits for it";
  locks.wait(3, 4, waiter(second));
  locks.wait(6, 6, waiter(third));
  std::vector<void*> granted;
  const auto note = [&](std::coroutine_handle<> w) { granted.push_back(w.address()); };
  locks.unlock(3, note);
  EXPECT_EQ(granted, (std::vector<void*>{&third})) << "the second would overtake the first";
  locks.unlock(0, note);
  locks.unlock(0, note);
  EXPECT_EQ(granted, (std::vector<void*>{&third, &first, &second}));
}

TEST(LocksDeath, ReleasingAnUnheldLockAborts) {
  StripeLocks locks;
  ASSERT_TRUE(locks.try_lock(2, 5));
  EXPECT_DEATH(locks.unlock(3, [](std::coroutine_handle<>) {}),
               "a stripe lock must be held when it is released");
}

}  // namespace
}  // namespace headcrash::model
