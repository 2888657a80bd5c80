// Tests an array's prewrite log: the reuse of its space, the validity of records, and the
// roll-forward.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "plugin/base/crc32c.h"
#include "plugin/model/array/prewrite_log.h"
#include "plugin/model/array/superblock.h"
#include "plugin/model/testing/array_fixture.h"

namespace headcrash::model {
namespace {

using bench::array_profile;
using bench::ArrayFixture;
using bench::counted;

constexpr std::uint64_t kMemberOfALog = 400;

ArrayProfile with_log_on_members() {
  ArrayProfile p = array_profile(RaidLevel::raid5, 4);
  p.recovery = ArrayRecovery::prewrite;
  p.prewrite_sectors = 64;
  return p;
}

TEST(PrewriteRoom, IsReusedOnlyAfterALaterTailIsOnTheMedium) {
  PrewriteLog log;
  log.open(2, 16, 24, 1, 5);
  // The log has 24 sectors, so it has room for four records. Each record has a header and a
  // payload, 5 sectors in total.
  const std::array<std::uint32_t, 2> payload = {4, 4};
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 4; ++i) {
    const auto place = log.reserve(0b11, payload);
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->at[0], 16U + static_cast<std::uint64_t>(i) * 5);
    sequences.push_back(place->sequence);
  }
  EXPECT_FALSE(log.reserve(0b11, payload).has_value());
  EXPECT_FALSE(log.needs_durable_tail()) << "nothing is home, so waiting for a tail is pointless";
  for (const std::uint64_t sequence : sequences) log.home(sequence);
  EXPECT_FALSE(log.reserve(0b11, payload).has_value())
      << "the old records are still valid at power-on";
  EXPECT_TRUE(log.needs_durable_tail());
  log.tail_durable(sequences[1]);
  const auto place = log.reserve(0b11, payload);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->at[0], 16U) << "the end of the ring is too short";
  EXPECT_FALSE(log.reserve(0b11, payload).has_value());
}

/// Two sectors at the front of the ring are free again, and the next record does not fit at the
/// end. The record must not be placed at the front, where it would overlap records that are still
/// in use.
TEST(PrewriteRoom, CountsTheSkippedEndOfTheRingAsUsed) {
  PrewriteLog log;
  log.open(1, 16, 24, 1, 5);
  std::vector<std::uint64_t> sequences;
  // Four records of 2, 6, 6 and 6 sectors, 20 in total. Each of them includes a header of one
  // sector.
  for (const std::uint32_t payload : {1U, 5U, 5U, 5U}) {
    const auto place = log.reserve(1, std::array{payload});
    ASSERT_TRUE(place.has_value());
    sequences.push_back(place->sequence);
  }
  log.home(sequences[0]);
  log.tail_durable(log.tail());
  EXPECT_FALSE(log.reserve(1, std::array{5U}).has_value())
      << "it would overwrite the second record";
  log.home(sequences[1]);
  log.tail_durable(log.tail());
  const auto place = log.reserve(1, std::array{5U});
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->at[0], 16U);
}

/// Returns the newest log tail stored on the members, with which the array would start.
std::uint64_t tail_on_members(const ArrayFixture& b) {
  std::uint64_t tail = 0;
  for (std::uint32_t m = 0; m < b.profile.members; ++m) {
    for (std::uint32_t slot = 0; slot < kSuperblockSlots; ++slot) {
      const auto superblock = Superblock::decode(b.on_member(m, slot * kSuperblockSectors, 1));
      if (superblock) tail = std::max(tail, superblock->prewrite_tail);
    }
    const auto [first, sectors] = Array::prewrite_range(b.profile);
    for (std::uint64_t at = first; at < first + sectors; ++at) {
      const auto header = PrewriteHeader::decode(b.on_member(m, at, 1));
      if (header) tail = std::max(tail, header->tail);
    }
  }
  return tail;
}

/// A record may be overwritten only if the members store a tail that is after this record.
/// Otherwise, an older complete record of the same stripe could be rolled forward and would undo
/// the update.
TEST(PrewriteRoom, IsReusedOnlyForRecordsBelowTheStoredTail) {
  std::uint64_t overwritten = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(with_log_on_members(), kMemberOfALog, seed, {.jitter_ns = 6 * kMillisecondNs});
    ASSERT_TRUE(b.open());
    const auto [first, sectors] = Array::prewrite_range(b.profile);
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::byte>> data;
    for (int i = 0; i < 4; ++i) data.push_back(counted(4, i));
    std::size_t seen = b.observer.log.size();
    std::uint64_t submitted = 0;
    while (submitted < 300 || b.host.done.size() < submitted) {
      if (submitted < 300 && submitted - b.host.done.size() < 6) {
        b.submit_write(random() % 12 * 12 + random() % 9, data[random() % 4]);
        ++submitted;
      }
      ASSERT_TRUE(b.simulation->run_next());
      for (; seen < b.observer.log.size(); ++seen) {
        unsigned device = 0, op = 0, length = 0;
        unsigned long long at = 0, id = 0, lba = 0;
        if (std::sscanf(b.observer.log[seen].c_str(), "%llu submit %u %llu op%u %llu+%u", &at,
                        &device, &id, &op, &lba, &length) != 6 ||
            device == 0 || op != static_cast<unsigned>(Op::write) || lba < first ||
            lba >= first + sectors)
          continue;
        for (std::uint64_t sector = lba; sector < lba + length; ++sector) {
          const auto header = PrewriteHeader::decode(b.on_member(device - 1, sector, 1));
          if (!header) continue;
          ++overwritten;
          ASSERT_LT(header->sequence, tail_on_members(b))
              << "member " << device - 1 << ", sector " << sector;
        }
      }
    }
  }
  EXPECT_GT(overwritten, 300U);
}

/// During a start, a member's log becomes unreadable before the roll-forward, so the member's home
/// locations keep old bytes.
TEST(PrewriteRecords, AreNotRolledForwardIfUnreadable) {
  std::uint64_t failed = 0;
  for (int events = 0; events < 60; ++events) {
    SCOPED_TRACE(events);
    ArrayFixture b(with_log_on_members(), kMemberOfALog);
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(48, 1)), Status::ok);
    b.run_for(50 * kMillisecondNs);
    const auto old = b.read(24, 12);
    const auto fresh = counted(12, 2);
    ASSERT_EQ(b.write(24, fresh), Status::ok);
    for (auto* drive : b.drives) drive->stall_writes = true;
    b.array->power_cut();
    b.run_for(0);
    for (auto* drive : b.drives) drive->stall_writes = false;
    b.array->power_on();
    for (int i = 0; i < events; ++i) b.simulation->run_next();
    const auto [first, sectors] = Array::prewrite_range(b.profile);
    for (std::uint64_t at = first; at < first + sectors; ++at) b.drives[1]->unreadable.insert(at);
    b.drain();
    const bool missed = b.array->status().members[1] == MemberState::failed;
    failed += missed ? 1 : 0;
    const auto now = b.read(24, 12);
    EXPECT_TRUE(now == fresh || (!missed && now == old))
        << "a record must be applied completely or not at all";
  }
  EXPECT_GT(failed, 0U);
}

/// Because a member is missing at power-on, the array writes superblocks before the roll-forward.
/// The test cuts the power a second time, at each of several points of this start.
TEST(PrewriteRecords, SurviveACutDuringRollForward) {
  for (TimeNs at = kMillisecondNs / 2; at < 12 * kMillisecondNs; at += kMillisecondNs / 2) {
    SCOPED_TRACE(at);
    ArrayFixture b(with_log_on_members(), kMemberOfALog);
    ASSERT_TRUE(b.open());
    ASSERT_EQ(b.write(0, counted(48, 1)), Status::ok);
    b.run_for(50 * kMillisecondNs);
    const auto fresh = counted(12, 2);
    ASSERT_EQ(b.write(24, fresh), Status::ok);
    for (auto* drive : b.drives) drive->stall_writes = true;
    b.array->power_cut();
    b.run_for(0);
    for (auto* drive : b.drives) drive->stall_writes = false;
    b.drives[1]->dead = true;
    b.array->power_on();
    b.run_for(at);
    b.array->power_cut();
    b.run_for(0);
    b.array->power_on();
    EXPECT_EQ(b.read(24, 12), fresh);
  }
}

/// Older records that are still in the log are complete, but home already. Each record stores the
/// tail on only those members that it updates, so the start must read the tails of all members.
TEST(PrewriteRecords, OnlyThoseFromTheNewestTailOnAreRolledForward) {
  std::uint64_t older = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(with_log_on_members(), kMemberOfALog, seed, {.jitter_ns = 6 * kMillisecondNs});
    ASSERT_TRUE(b.open());
    std::mt19937_64 random(seed);
    for (int i = 0; i < 30; ++i)
      ASSERT_EQ(b.write(random() % 12 * 12 + random() % 9, counted(4, i)), Status::ok);
    for (auto* drive : b.drives) drive->stall_writes = true;
    b.array->power_cut();
    b.run_for(0);
    for (auto* drive : b.drives) drive->stall_writes = false;
    const std::uint64_t tail = tail_on_members(b);
    std::set<std::uint64_t> from_tail;
    const auto [first, sectors] = Array::prewrite_range(b.profile);
    for (std::uint32_t m = 0; m < b.profile.members; ++m) {
      for (std::uint64_t at = first; at < first + sectors; ++at) {
        const auto header = PrewriteHeader::decode(b.on_member(m, at, 1));
        if (!header) continue;
        if (header->sequence >= tail)
          from_tail.insert(header->sequence);
        else
          ++older;
      }
    }
    b.array->power_on();
    b.drain();
    EXPECT_LE(b.array->array_counters().rolled_forward, from_tail.size());
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
  EXPECT_GT(older, 0U);
}

TEST(PrewriteRecords, RecordsOfAnEarlierStartDoNotOverrideNewerOnes) {
  ArrayFixture b(with_log_on_members(), kMemberOfALog);
  const RaidLayout l = b.layout();
  ASSERT_TRUE(b.open());
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), counted(4, i)), Status::ok);
  b.array->shut_down();
  ASSERT_TRUE(b.open());
  // The write returns when its data is logged, but not yet at its home location.
  ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), counted(4, 7)), Status::ok);
  for (auto* drive : b.drives) drive->stall_writes = true;
  b.array->power_cut();
  b.run_for(0);
  for (auto* drive : b.drives) drive->stall_writes = false;
  b.array->power_on();
  EXPECT_EQ(b.read(9ULL * l.stripe_sectors(), 4), counted(4, 7));
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

TEST(PrewriteRecords, AreKeptUntilRolledForwardDataIsDurable) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    ArrayFixture b(with_log_on_members(), kMemberOfALog, seed, {.volatile_cache = true});
    ASSERT_TRUE(b.open());
    const auto fresh = counted(12, 2);
    ASSERT_EQ(b.write(24, fresh), Status::ok);
    for (int cut = 0; cut < 3; ++cut) {
      b.array->power_cut();
      b.run_for(0);
      b.array->power_on();
      // Long enough to roll the log forward, but too short for the flush of an idle array.
      b.run_for(50 * kMillisecondNs);
    }
    EXPECT_EQ(b.read(24, 12), fresh);
    EXPECT_EQ(b.array->array_counters().rolled_forward, 1U);
    b.array->power_cut();
    b.run_for(0);
    EXPECT_EQ(b.wrong_stripes(), 0U);
  }
}

TEST(PrewriteRecords, LookalikesInHostDataAreIgnored) {
  ArrayFixture b(with_log_on_members(), kMemberOfALog);
  ASSERT_TRUE(b.open());
  const RaidLayout l = b.layout();
  const auto before = counted(l.stripe_sectors() * 20, 1);
  ASSERT_EQ(b.write(0, before), Status::ok);
  b.run_for(50 * kMillisecondNs);
  // A forged record with a sequence number that has not been used yet. The host writes it as data,
  // so the log contains it as a payload. It must not be rolled forward.
  const std::uint32_t m = l.member_of(9, 0);
  const auto superblock = Superblock::decode(b.on_member(m, 0, 1));
  ASSERT_TRUE(superblock.has_value());
  auto forged = counted(2, 5);
  PrewriteHeader header;
  header.array_id = superblock->array_id;
  header.sequence = std::uint64_t{1} << 60;
  header.parts = 1ULL << m;
  header.home = l.member_lba(3, 0);
  header.sectors = 1;
  header.member = m;
  header.at = 5;
  header.payload_crc = crc32c(std::span(forged).last(kSectorBytes));
  header.encode(std::span(forged).first(kSectorBytes));
  ASSERT_EQ(b.write(9ULL * l.stripe_sectors(), forged), Status::ok);
  b.array->power_cut();
  b.run_for(0);
  b.array->power_on();
  auto expected = before;
  std::copy(forged.begin(), forged.end(),
            expected.begin() + std::ptrdiff_t{9} * l.stripe_sectors() * kSectorBytes);
  EXPECT_EQ(b.read(0, l.stripe_sectors() * 20), expected);
  EXPECT_EQ(b.wrong_stripes(), 0U);
}

}  // namespace
}  // namespace headcrash::model
