// Tests the member commands that each kind of write causes, degraded operation, metadata, and the
// write hole with its remedies.
#include "plugin/model/array/array.h"

#include <gtest/gtest.h>

#include "plugin/base/invariant.h"
#include "plugin/model/testing/array_fixture.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayFixture;
using bench::DiskFixture;

constexpr std::uint64_t kMemberSectors = 400;

std::vector<std::byte> numbered(std::uint32_t sectors, int seed) {
  std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = std::byte((i * 7 + i / 512 * 13 + static_cast<std::size_t>(seed) * 31) & 0xff);
  return bytes;
}

struct Commands {
  std::uint64_t reads, writes;
  bool operator==(const Commands&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Commands& c) {
  return out << c.reads << " reads, " << c.writes << " writes";
}

/// Returns the member commands that one write causes on an array that is already marked dirty.
Commands commands_of_write(ArrayFixture& b, std::uint64_t lba, std::uint32_t sectors) {
  const DeviceCounters before = b.member_totals();
  EXPECT_EQ(b.write(lba, numbered(sectors, 3)), Status::ok);
  // Long enough to write the logged update in place, which happens after the answer.
  b.run_for(50 * kMillisecondNs);
  const DeviceCounters after = b.member_totals();
  return {after.reads - before.reads, after.writes - before.writes};
}

ArrayProfile with_log(ArrayProfile p) {
  p.recovery = ArrayRecovery::prewrite;
  p.prewrite_sectors = 64;
  return p;
}

void open_dirty(ArrayFixture& b) {
  const auto opened = b.open();
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_EQ(b.write(0, numbered(1, 1)), Status::ok);
  b.run_for(20 * kMillisecondNs);
}

TEST(ArrayCommands, MatchTheExpectedCountsForAWriteAtEachLevel) {
  struct Case {
    ArrayProfile profile;
    std::uint32_t sectors;
    Commands wanted;
  };
  const std::vector<Case> cases = {{array_profile(RaidLevel::raid0, 5), 4, {0, 1}},
                                   {array_profile(RaidLevel::raid0, 5), 20, {0, 5}},
                                   {array_profile(RaidLevel::raid0, 5), 40, {0, 5}},
                                   {array_profile(RaidLevel::raid1, 2), 4, {0, 2}},
                                   {array_profile(RaidLevel::raid4, 5), 4, {2, 2}},
                                   {array_profile(RaidLevel::raid4, 5), 16, {0, 5}},
                                   {array_profile(RaidLevel::raid5, 5), 4, {2, 2}},
                                   {array_profile(RaidLevel::raid5, 5), 1, {2, 2}},
                                   {array_profile(RaidLevel::raid5, 5), 12, {1, 4}},
                                   {array_profile(RaidLevel::raid5, 5), 16, {0, 5}},
                                   {array_profile(RaidLevel::raid5, 5), 160, {0, 5}},
                                   {array_profile(RaidLevel::raid6, 6), 4, {3, 3}},
                                   {array_profile(RaidLevel::raid6, 6), 16, {0, 6}},
                                   {with_log(array_profile(RaidLevel::raid5, 5)), 4, {2, 4}},
                                   {with_log(array_profile(RaidLevel::raid5, 5)), 16, {0, 10}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("level {} of {}, {} sectors", static_cast<int>(c.profile.level),
                             c.profile.members, c.sectors));
    ArrayFixture b(c.profile, kMemberSectors);
    open_dirty(b);
    EXPECT_EQ(commands_of_write(b, 160, c.sectors), c.wanted);
    EXPECT_EQ(b.read(160, c.sectors), numbered(c.sectors, 3));
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(ArrayCommands, SmallWriteReadsAndWritesOnlyItsSectors) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 5), kMemberSectors);
  open_dirty(b);
  const DeviceCounters before = b.member_totals();
  ASSERT_EQ(b.write(33, numbered(1, 3)), Status::ok);
  EXPECT_EQ(b.member_totals().sectors_read - before.sectors_read, 2U);
  EXPECT_EQ(b.member_totals().sectors_written - before.sectors_written, 2U);
}

TEST(ArrayCommands, NeedFewerReadsWithAStripeCache) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 5);
  p.stripe_cache_stripes = 4;
  ArrayFixture b(p, kMemberSectors);
  open_dirty(b);
  EXPECT_EQ(commands_of_write(b, 160, 4), (Commands{2, 2}));
  EXPECT_EQ(commands_of_write(b, 160, 4), (Commands{0, 2}));
  EXPECT_EQ(commands_of_write(b, 164, 4), (Commands{1, 2}))
      << "the parity is cached, the data is not";
  b.drain();
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

TEST(ArrayCommands, TakeTheSameTimeWithoutStoredBytes) {
  for (const ArrayProfile& p :
       {array_profile(RaidLevel::raid5, 5), with_log(array_profile(RaidLevel::raid5, 5))}) {
    std::vector<TimeNs> took[2];
    for (const bool bytes : {false, true}) {
      // Delays without jitter do not depend on the number of earlier commands. This number differs
      // between the two runs, because assembly sends commands only if the members store bytes.
      ArrayFixture b(p, kMemberSectors, 1, {.delay_ns = 3 * kMillisecondNs});
      const auto opened = b.open([](ArrayFixture&) {}, bytes);
      ASSERT_TRUE(opened);
      b.run_for(kSecondNs - b.simulation->now());
      const auto data = numbered(64, 1);
      for (std::uint32_t i = 0; i < 20; ++i) {
        Request r;
        r.op = i % 3 == 0 ? Op::read : Op::write;
        r.lba = i * 11;
        r.sectors = 1 + i * 3 % 40;
        std::vector<std::byte> into(std::size_t{r.sectors} * kSectorBytes);
        if (bytes && r.op == Op::write) r.data = std::span(data).first(into.size());
        if (bytes && r.op == Op::read) r.into = into;
        const Completion c = b.finish(b.submit(r));
        EXPECT_EQ(c.status, Status::ok);
        took[bytes ? 1 : 0].push_back(c.completed_at - c.submitted_at);
      }
    }
    EXPECT_EQ(took[0], took[1]);
  }
}

// ---- lost members

TEST(ArrayDegraded, EachLevelToleratesAsManyLossesAsItShould) {
  for (const ArrayProfile& p :
       {array_profile(RaidLevel::raid1, 3), array_profile(RaidLevel::raid4, 4),
        array_profile(RaidLevel::raid5, 5), with_log(array_profile(RaidLevel::raid5, 5)),
        array_profile(RaidLevel::raid6, 6)}) {
    const std::uint32_t may = p.level == RaidLevel::raid6 || p.level == RaidLevel::raid1 ? 2 : 1;
    for (std::uint32_t first = 0; first < p.members; ++first) {
      SCOPED_TRACE(fmt::format("level {}, member {}", static_cast<int>(p.level), first));
      ArrayFixture b(p, kMemberSectors);
      ASSERT_TRUE(b.open());
      const auto all = static_cast<std::uint32_t>(b.array->characteristics().sectors);
      auto expected = numbered(all, 1);
      ASSERT_EQ(b.write(0, expected), Status::ok);
      for (std::uint32_t i = 0; i < may; ++i) b.drives[(first + i * 2) % p.members]->dead = true;
      EXPECT_EQ(b.read(0, all), expected);
      for (std::uint32_t lba = 1; lba + 30 < all; lba += 61) {
        const auto fresh = numbered(29, static_cast<int>(lba));
        ASSERT_EQ(b.write(lba, fresh), Status::ok);
        std::copy(fresh.begin(), fresh.end(),
                  expected.begin() + std::ptrdiff_t{lba} * kSectorBytes);
      }
      EXPECT_EQ(b.read(0, all), expected);
      for (std::uint32_t i = 0; i < may; ++i) {
        const std::uint32_t m = (first + i * 2) % p.members;
        EXPECT_EQ(b.array->status().members[m], MemberState::failed);
        b.drives[m]->dead = false;
        *b.stores[m] = bench::MemoryStore(kMemberSectors);
        const auto begun = b.array->rebuild(m);
        ASSERT_TRUE(begun) << begun.error().message();
        b.run_for(3 * kMillisecondNs);
        ASSERT_EQ(b.write(200, numbered(50, 9)), Status::ok);
        b.finish_background();
        EXPECT_EQ(b.array->status().members[m], MemberState::active);
      }
      const auto fresh = numbered(50, 9);
      std::copy(fresh.begin(), fresh.end(), expected.begin() + std::ptrdiff_t{200} * kSectorBytes);
      EXPECT_EQ(b.read(0, all), expected);
      b.drain();
      EXPECT_EQ(b.wrong_stripes(), 0U);
      EXPECT_FALSE(b.array->status().dirty);
    }
  }
}

TEST(ArrayDegraded, FailsRequestsAfterTooManyLosses) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 4), kMemberSectors);
  open_dirty(b);
  b.drives[0]->dead = b.drives[1]->dead = true;
  EXPECT_EQ(b.write(0, numbered(12, 1)), Status::device_failed);
  Status status = Status::ok;
  b.read(0, 12, &status);
  EXPECT_EQ(status, Status::device_failed);
  ArrayFixture c(array_profile(RaidLevel::raid5, 4), kMemberSectors);
  open_dirty(c);
  ASSERT_TRUE(c.array->fail_member(2));
  EXPECT_FALSE(c.array->fail_member(1)) << "an operator must not be able to break the array";
}

/// An array counts requests that it has answered, including failed ones. Like a drive, it does not
/// count requests that were lost in a power cut.
TEST(ArrayDegraded, FailedRequestsAreCounted) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 4), kMemberSectors);
  open_dirty(b);
  b.drives[0]->dead = b.drives[1]->dead = true;
  const DeviceCounters before = b.array->counters();
  EXPECT_EQ(b.write(0, numbered(12, 1)), Status::device_failed);
  Status status = Status::ok;
  b.read(0, 12, &status);
  EXPECT_EQ(status, Status::device_failed);
  EXPECT_EQ(b.array->counters().writes, before.writes + 1);
  EXPECT_EQ(b.array->counters().sectors_read, before.sectors_read + 12);
  b.array->power_cut();
  EXPECT_EQ(b.write(0, numbered(12, 1)), Status::power_lost);
  EXPECT_EQ(b.array->counters().writes, before.writes + 1);
}

TEST(ArrayDegraded, RepairsAnUnreadableSector) {
  for (const ArrayProfile& p :
       {array_profile(RaidLevel::raid1, 2), array_profile(RaidLevel::raid5, 4),
        array_profile(RaidLevel::raid6, 5)}) {
    SCOPED_TRACE(static_cast<int>(p.level));
    ArrayFixture b(p, kMemberSectors);
    open_dirty(b);
    const auto data = numbered(40, 5);
    ASSERT_EQ(b.write(0, data), Status::ok);
    const RaidLayout l = b.layout();
    const std::uint32_t m = l.member_of(0, 0);
    b.drives[m]->unreadable = {l.member_lba(0, 1)};
    if (p.level == RaidLevel::raid1) b.drives[1]->unreadable = {l.member_lba(0, 2)};
    EXPECT_EQ(b.read(0, 40), data);
    EXPECT_EQ(b.read(0, 40), data);
    EXPECT_GE(b.array->array_counters().repaired_sectors, 1U);
    EXPECT_EQ(b.array->status().members[m], MemberState::active);
    if (p.level == RaidLevel::raid1) continue;
    EXPECT_TRUE(b.drives[m]->unreadable.empty());
    b.drives[m]->unreadable = {l.member_lba(0, 1)};
    ASSERT_EQ(b.write(1, numbered(1, 8)), Status::ok)
        << "read-modify-write over an unreadable sector";
    b.drives[m]->unreadable = {l.member_lba(0, 2)};
    ASSERT_TRUE(b.array->scrub(false));
    b.finish_background();
    EXPECT_TRUE(b.drives[m]->unreadable.empty());
    EXPECT_EQ(b.array->status().mismatches, 0U);
    b.drain();
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(ArrayScrub, CountsAndRepairsMismatches) {
  ArrayFixture b(array_profile(RaidLevel::raid6, 5), kMemberSectors);
  open_dirty(b);
  const RaidLayout l = b.layout();
  for (const std::uint64_t s : {3U, 7U})
    ASSERT_TRUE(b.stores[l.member_of(s, l.data)]->write(l.member_lba(s, 1), numbered(1, 77)));
  ASSERT_TRUE(b.array->scrub(false));
  EXPECT_FALSE(b.array->scrub(false)) << "only one at a time";
  b.finish_background();
  EXPECT_EQ(b.array->status().mismatches, 2U);
  EXPECT_EQ(b.wrong_stripes(), 2U);
  ASSERT_TRUE(b.array->scrub(true));
  b.finish_background();
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

TEST(ArrayRebuild, RespectsItsRateLimit) {
  ArrayProfile p = array_profile(RaidLevel::raid5, 3);
  p.rebuild_bytes_per_second = 100 * kSectorBytes;
  ArrayFixture b(p, kMemberSectors);
  open_dirty(b);
  ASSERT_TRUE(b.array->fail_member(0));
  ASSERT_TRUE(b.array->rebuild(0));
  const TimeNs begun = b.simulation->now();
  b.run_for(2 * kSecondNs);
  EXPECT_EQ(b.array->status().background, "rebuild");
  EXPECT_EQ(b.array->status().background_total, b.layout().stripes * 4);
  EXPECT_LE(b.array->status().background_done, 300U);
  b.finish_background();
  const auto sectors = static_cast<TimeNs>(b.layout().stripes * 4);
  EXPECT_GE(b.simulation->now() - begun, sectors * kSecondNs / 100);
}

// ---- metadata

TEST(ArrayMetadata, LetsANewServerFindTheSameState) {
  ArrayFixture b(array_profile(RaidLevel::raid6, 5), kMemberSectors);
  open_dirty(b);
  ASSERT_EQ(b.write(5, numbered(9, 4)), Status::ok);
  ASSERT_TRUE(b.array->fail_member(2));
  b.array->shut_down();
  ASSERT_TRUE(b.open());
  EXPECT_EQ(b.array->status().members[2], MemberState::failed);
  EXPECT_FALSE(b.array->status().dirty);
  EXPECT_EQ(b.read(5, 9), numbered(9, 4));
}

TEST(ArrayMetadata, MarksIdleArraysClean) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 5), kMemberSectors);
  open_dirty(b);
  EXPECT_TRUE(b.array->status().dirty);
  b.run_for(kSecondNs);
  EXPECT_FALSE(b.array->status().dirty);
}

TEST(ArrayMetadata, RejectsForeignAndMissingMembers) {
  ArrayFixture a(array_profile(RaidLevel::raid5, 4), kMemberSectors, 1);
  ArrayFixture b(array_profile(RaidLevel::raid5, 4), kMemberSectors, 2);
  for (ArrayFixture* x : {&a, &b}) {
    open_dirty(*x);
    x->array->shut_down();
  }
  std::swap(a.stores[1], b.stores[1]);
  auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("member 1: belongs to another array"), std::string::npos);
  std::swap(a.stores[1], b.stores[1]);
  std::swap(a.stores[1], a.stores[2]);
  opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("is member 2 of this array"), std::string::npos);
  std::swap(a.stores[1], a.stores[2]);
  *a.stores[3] = bench::MemoryStore(kMemberSectors);
  opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("member 3: is blank"), std::string::npos);
  b.profile.stripe_unit_sectors = 8;
  opened = b.open();
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("another profile"), std::string::npos);
}

TEST(ArrayMetadata, RejectsInvalidProfiles) {
  const auto refused = [](const ArrayProfile& p) {
    return !ArrayFixture(p, kMemberSectors).open().has_value();
  };
  EXPECT_TRUE(refused(array_profile(RaidLevel::raid5, 1)));
  EXPECT_TRUE(refused(array_profile(RaidLevel::raid6, 3)));
  EXPECT_TRUE(refused(array_profile(RaidLevel::raid0, 33)));
  EXPECT_TRUE(refused(array_profile(RaidLevel::raid5, 5, 0)));
  EXPECT_TRUE(refused(array_profile(RaidLevel::raid5, 5, 1000)));
  ArrayProfile p = array_profile(RaidLevel::raid5, 5);
  p.recovery = ArrayRecovery::prewrite;
  EXPECT_TRUE(refused(p));
  p = array_profile(RaidLevel::raid5, 5);
  p.recovery = ArrayRecovery::dirty_regions;
  EXPECT_TRUE(refused(p));
}

TEST(ArraySizes, DataAndMemberSizesConvertBackAndForth) {
  for (std::uint32_t data = 1; data < 4000; data += 37) {
    ArrayProfile p = with_log(array_profile(RaidLevel::raid5, 5));
    EXPECT_GE(Array::data_sectors(p, Array::member_sectors(p, data)), data);
    p.recovery = ArrayRecovery::dirty_regions;
    p.region_sectors = 8;
    const std::uint64_t member = Array::member_sectors(p, data);
    EXPECT_GE(Array::data_sectors(p, member), data);
    EXPECT_LT(Array::data_sectors(p, member) - data, 16U);
  }
}

// ---- the write hole

/// Two data blocks of stripe 9 are known. One is rewritten, and the power is cut when its new data
/// has been written in place but the stripe's new parity has not (or vice versa). Then the member
/// with the other block fails.
struct WriteHole {
  explicit WriteHole(const ArrayProfile& p) : b(p, kMemberSectors) {
    open_dirty(b);
    l = b.layout();
    lba = stripe * l.stripe_sectors();
    EXPECT_EQ(b.write(lba, numbered(l.stripe_sectors(), 1)), Status::ok);
    b.run_for(50 * kMillisecondNs);
    b.drives[l.member_of(stripe, l.data)]->stall_writes = true;
    fresh = numbered(l.unit, 2);
    b.submit_write(lba, fresh);
    b.run_for(100 * kMillisecondNs);
    b.array->power_cut();
    b.run_for(0);
    for (auto* drive : b.drives) drive->stall_writes = false;
  }
  /// Kills the member that stores data block 1, which was not rewritten. Returns true if the block
  /// can still be read correctly.
  bool other_block_is_intact() {
    b.drives[l.member_of(stripe, 1)]->dead = true;
    const auto all = numbered(l.stripe_sectors(), 1);
    const auto from = all.begin() + std::ptrdiff_t{l.unit} * kSectorBytes;
    return b.read(lba + l.unit, l.unit) ==
           std::vector<std::byte>(from, from + std::ptrdiff_t{l.unit} * kSectorBytes);
  }
  ArrayFixture b;
  RaidLayout l;
  std::uint64_t stripe = 9;
  std::uint64_t lba = 0;
  std::vector<std::byte> fresh;  ///< buffer of the write; must be valid until the write ends
};

TEST(WriteHole, ExistsWithoutRecovery) {
  WriteHole hole(array_profile(RaidLevel::raid5, 5));
  hole.b.array->power_on();
  hole.b.run_for(kSecondNs);
  EXPECT_EQ(hole.b.wrong_stripes(), 1U);
  EXPECT_FALSE(hole.other_block_is_intact());
}

TEST(WriteHole, ResyncClosesTheWriteHoleUnlessAMemberFailsFirst) {
  for (const bool regions : {false, true}) {
    ArrayProfile p = array_profile(RaidLevel::raid5, 5);
    p.recovery = regions ? ArrayRecovery::dirty_regions : ArrayRecovery::resync;
    p.region_sectors = 32;
    WriteHole hole(p);
    const DeviceCounters before = hole.b.member_totals();
    hole.b.array->power_on();
    hole.b.run_for(kMillisecondNs * 10);
    hole.b.finish_background();
    if (regions) {
      EXPECT_LT(hole.b.member_totals().sectors_read - before.sectors_read, 5U * kMemberSectors);
    } else {
      EXPECT_GE(hole.b.member_totals().sectors_read - before.sectors_read,
                5U * (kMemberSectors - 20));
    }
    EXPECT_EQ(hole.b.wrong_stripes(), 0U);
    EXPECT_EQ(hole.b.array->status().mismatches, 1U);
    EXPECT_TRUE(hole.other_block_is_intact());
  }
}

TEST(WriteHole, PrewriteLogClosesTheWriteHole) {
  // Only in-place writes may stall. If a log record stalled too, the power would be cut before the
  // update was logged.
  ArrayFixture b(with_log(array_profile(RaidLevel::raid5, 5)), kMemberSectors);
  open_dirty(b);
  const RaidLayout l = b.layout();
  const std::uint64_t lba = 9ULL * l.stripe_sectors();
  ASSERT_EQ(b.write(lba, numbered(l.stripe_sectors(), 1)), Status::ok);
  b.run_for(50 * kMillisecondNs);
  const auto fresh = numbered(l.unit, 2);
  // The update is logged, and its in-place writes are in flight.
  ASSERT_EQ(b.write(lba, fresh), Status::ok);
  b.drives[l.member_of(9, l.data)]->stall_writes = true;
  b.run_for(100 * kMillisecondNs);
  b.array->power_cut();
  b.run_for(0);
  EXPECT_EQ(b.wrong_stripes(), 1U);
  for (auto* drive : b.drives) drive->stall_writes = false;
  // The write did not change data column 1, whose member is missing at power-on.
  b.drives[l.member_of(9, 1)]->dead = true;
  b.array->power_on();
  auto expected = numbered(l.stripe_sectors(), 1);
  std::copy(fresh.begin(), fresh.end(), expected.begin());
  EXPECT_EQ(b.read(lba, l.stripe_sectors()), expected);
  EXPECT_GE(b.array->array_counters().rolled_forward, 1U);
  EXPECT_FALSE(b.array->status().refused.has_value());
}

TEST(WriteHole, DirtyDegradedStartIsRefusedUnlessAccepted) {
  WriteHole hole(array_profile(RaidLevel::raid5, 5));
  ArrayFixture& b = hole.b;
  b.drives[hole.l.member_of(hole.stripe, 1)]->dead = true;
  b.array->power_on();
  Status status = Status::ok;
  b.read(0, 1, &status);
  EXPECT_EQ(status, Status::device_failed);
  ASSERT_TRUE(b.array->status().refused.has_value());
  ASSERT_TRUE(b.array->accept_dirty_degraded());
  b.read(0, 1, &status);
  EXPECT_EQ(status, Status::ok);
  EXPECT_FALSE(b.array->accept_dirty_degraded());
}

// ---- power, trim, flush

TEST(ArrayPower, EveryRequestInFlightAtACutCompletesExactlyOnce) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 5), kMemberSectors);
  open_dirty(b);
  const auto data = numbered(30, 1);
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 8; ++i) ids.push_back(b.submit_write(i * 7, data));
  ids.push_back(b.submit(Op::flush));
  b.run_for(kMillisecondNs / 2);
  b.array->power_cut();
  ids.push_back(b.submit_write(3, data));
  b.run_for(0);
  for (const RequestId id : ids) {
    // This flush completed at once, because no member has a volatile cache.
    if (id == ids[8]) continue;
    ASSERT_TRUE(b.host.has(id));
    EXPECT_EQ(b.host.done[id].status, Status::power_lost);
  }
  b.array->power_on();
  EXPECT_EQ(b.write(0, data), Status::ok);
}

TEST(ArrayTrim, KeepsParityConsistent) {
  for (const RaidLevel level :
       {RaidLevel::raid0, RaidLevel::raid1, RaidLevel::raid5, RaidLevel::raid6}) {
    ArrayFixture b(array_profile(level, 5), kMemberSectors, 1, {.trim = true});
    ASSERT_TRUE(b.open());
    const auto all = static_cast<std::uint32_t>(b.array->characteristics().sectors);
    auto expected = numbered(all, 1);
    ASSERT_EQ(b.write(0, expected), Status::ok);
    ASSERT_EQ(b.finish(b.submit(Op::trim, 9, 100)).status, Status::ok);
    ASSERT_EQ(b.finish(b.submit(Op::write_zeroes, 131, 70)).status, Status::ok);
    std::fill_n(expected.begin() + 9 * 512, 100 * 512, std::byte{0});
    std::fill_n(expected.begin() + 131 * 512, 70 * 512, std::byte{0});
    EXPECT_EQ(b.read(0, all), expected);
    EXPECT_GT(b.member_totals().trims, 0U);
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(ArrayFlush, ReachesMembersWithVolatileCaches) {
  ArrayFixture b(array_profile(RaidLevel::raid5, 5), kMemberSectors, 1, {.volatile_cache = true});
  open_dirty(b);
  EXPECT_TRUE(b.array->characteristics().volatile_cache);
  ASSERT_EQ(b.write(20, numbered(16, 3)), Status::ok);
  const auto before = b.member_totals().flushes;
  ASSERT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  EXPECT_EQ(b.member_totals().flushes - before, 5U);
  b.array->power_cut();
  b.run_for(0);
  b.array->power_on();
  EXPECT_EQ(b.read(20, 16), numbered(16, 3));
}

}  // namespace
}  // namespace headcrash::model
