// Tests the order that each policy produces, and the rules that all policies follow. Also tests
// that ageing bounds the waiting time.
#include "plugin/model/disk/drive_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::kCacheOff;
using bench::kCacheOn;

DiskProfile queued_profile(QueuePolicy policy, std::uint32_t depth,
                           std::uint32_t aging_permille = 0) {
  DiskProfile profile = bench::small_profile();
  profile.queue = {depth, policy, aging_permille};
  return profile;
}

/// Submits one-sector reads at time 0, and returns the order in which they complete.
std::vector<std::uint64_t> order_of(QueuePolicy policy, std::uint32_t depth,
                                    const std::vector<std::uint64_t>& lbas) {
  DiskFixture b(kCacheOff, 1, queued_profile(policy, depth));
  std::vector<std::pair<RequestId, std::uint64_t>> ids;
  for (const std::uint64_t lba : lbas) ids.emplace_back(b.submit(Op::read, lba, 1), lba);
  b.drain();
  std::sort(ids.begin(), ids.end(), [&b](const auto& x, const auto& y) {
    return b.host.done[x.first].completed_at < b.host.done[y.first].completed_at;
  });
  std::vector<std::uint64_t> order;
  for (const auto& [id, lba] : ids) order.push_back(lba);
  return order;
}

// On the small drive, cylinder c >= 1 of the outer zone begins at LBA 28 + 64 (c - 1).
constexpr std::uint64_t at_cylinder(std::uint64_t c) {
  return 28 + 64 * (c - 1);
}

TEST(DriveQueue, EachPolicyServesRequestsInItsOrder) {
  const std::vector<std::uint64_t> lbas = {at_cylinder(10), at_cylinder(18), at_cylinder(12),
                                           at_cylinder(4), at_cylinder(9)};
  EXPECT_EQ(order_of(QueuePolicy::fcfs, 8, lbas), lbas);
  EXPECT_EQ(order_of(QueuePolicy::sstf, 8, lbas),
            (std::vector<std::uint64_t>{at_cylinder(10), at_cylinder(9), at_cylinder(12),
                                        at_cylinder(18), at_cylinder(4)}));
  EXPECT_EQ(order_of(QueuePolicy::c_look, 8, lbas),
            (std::vector<std::uint64_t>{at_cylinder(10), at_cylinder(12), at_cylinder(18),
                                        at_cylinder(4), at_cylinder(9)}));
}

TEST(DriveQueue, ReordersOnlyWithinTheQueueDepth) {
  // At depth 3, the drive holds the current command and two others, among which it can choose.
  const std::vector<std::uint64_t> lbas = {at_cylinder(10), at_cylinder(18), at_cylinder(17),
                                           at_cylinder(11), at_cylinder(10) + 1};
  const auto order = order_of(QueuePolicy::sstf, 3, lbas);
  EXPECT_EQ(order[1], at_cylinder(17)) << "the nearest of the two accepted";
  EXPECT_EQ(order_of(QueuePolicy::sstf, 1, lbas), lbas) << "no choice at depth 1";
}

TEST(DriveQueue, SptfHasTheShortestTotalTime) {
  const auto total = [](QueuePolicy policy) {
    DiskFixture b(kCacheOff, 1, queued_profile(policy, 64));
    std::mt19937_64 random(4711);
    for (int i = 0; i < 400; ++i) b.submit(Op::write, random() % 2000, 1);
    b.drain();
    return b.machine.simulation().now();
  };
  const TimeNs fcfs = total(QueuePolicy::fcfs), sstf = total(QueuePolicy::sstf),
               c_look = total(QueuePolicy::c_look), sptf = total(QueuePolicy::sptf);
  EXPECT_LT(sstf, fcfs);
  EXPECT_LT(c_look, fcfs);
  EXPECT_LT(sptf, sstf);
  EXPECT_LT(sptf, c_look);
}

/// Returns the time of 32 queued writes of adjacent sectors, and checks the medium.
TimeNs time_of_adjacent_writes(std::uint32_t depth, std::uint32_t write_segments,
                               std::uint32_t segment_sectors = 32) {
  constexpr std::uint32_t kSectors = 4, kWrites = 32;
  DiskProfile profile = queued_profile(QueuePolicy::c_look, depth);
  profile.read_buffer.write_segments = write_segments;
  profile.read_buffer.segment_sectors = segment_sectors;
  DiskFixture b(kCacheOff, 1, profile);
  std::vector<std::vector<std::byte>> written;
  std::vector<RequestId> ids;
  for (std::uint32_t i = 0; i < kWrites; ++i) {
    written.push_back(DiskFixture::pattern(kSectors, static_cast<int>(i + 1)));
    ids.push_back(b.submit_write(100 + i * kSectors, written.back()));
  }
  b.finish(ids[kWrites / 2]);
  b.machine.power_cut();
  for (std::uint32_t i = 0; i < kWrites; ++i) {
    const bool completed = i <= kWrites / 2;
    EXPECT_EQ(b.on_medium(100 + i * kSectors, kSectors) == written[i], completed) << i;
  }
  return b.host.done[ids[kWrites / 2]].completed_at;
}

TEST(DriveQueue, ReceivesAQueuedWriteDuringThePreviousOne) {
  const TimeNs queued = time_of_adjacent_writes(8, 2), alone = time_of_adjacent_writes(1, 2);
  // The limit allows for 17 writes of 2.5 ms each and the switches between 5 tracks, but not for an
  // extra revolution per write.
  EXPECT_LT(queued, 80 * kMillisecondNs);
  EXPECT_GT(alone, 17 * 10 * kMillisecondNs) << "a revolution per write";
  EXPECT_GT(time_of_adjacent_writes(8, 1), 17 * 10 * kMillisecondNs) << "no second segment";
  EXPECT_GT(time_of_adjacent_writes(8, 2, 3), 17 * 10 * kMillisecondNs) << "a segment too small";
}

TEST(DriveQueue, AQueuedWriteMayEndBeforeThePreviousCompletion) {
  DiskProfile profile = queued_profile(QueuePolicy::c_look, 8);
  profile.read_buffer.write_segments = 2;
  profile.overhead.write_completion_ns = 2 * kMillisecondNs;  // longer than three sectors take
  DiskFixture b(kCacheOff, 1, profile);
  const auto data = DiskFixture::pattern(1, 7);
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 8; ++i) ids.push_back(b.submit_write(100 + i, data));
  b.drain();
  for (std::size_t i = 1; i < ids.size(); ++i)
    EXPECT_GE(b.host.done[ids[i]].completed_at,
              b.host.done[ids[i - 1]].completed_at + 2 * kMillisecondNs);
  EXPECT_EQ(b.on_medium(100, 8), DiskFixture::pattern(8, 7));
}

TEST(DriveQueue, RequestsAreNotReorderedAcrossAFlush) {
  for (const bool cache : {false, true}) {
    for (const QueuePolicy policy :
         {QueuePolicy::sstf, QueuePolicy::c_look, QueuePolicy::sptf, QueuePolicy::aged_sptf}) {
      DiskFixture b(cache, 1, queued_profile(policy, 64, 50));
      std::mt19937_64 random(7);
      std::vector<RequestId> before, after;
      const auto data = DiskFixture::pattern(1, 3);
      for (int i = 0; i < 20; ++i) before.push_back(b.submit_write(random() % 2000, data));
      const RequestId flush = b.submit(Op::flush);
      for (int i = 0; i < 20; ++i) after.push_back(b.submit(Op::read, random() % 2000, 1));
      b.finish(flush);
      EXPECT_EQ(b.disk->cached_dirty_sectors(), 0U);
      for (const RequestId id : before) EXPECT_TRUE(b.host.has(id));
      for (const RequestId id : after) EXPECT_FALSE(b.host.has(id));
      b.drain();
      for (const RequestId id : after) EXPECT_TRUE(b.host.has(id));
    }
  }
}

/// Keeps forty reads in flight in the outermost cylinders, while one read of a cylinder far inward
/// is waiting.
class NearReads final : public Initiator {
 public:
  NearReads(DiskFixture& b, TimeNs until) : bench_(b), until_(until) {}
  void start() {
    for (int i = 0; i < 40; ++i) next();
  }
  void completed(const Completion&) override {
    if (bench_.machine.simulation().now() < until_) next();
  }

 private:
  void next() {
    Request request;
    request.op = Op::read;
    request.lba = random_() % 28;
    request.sectors = 1;
    bench_.machine.submit(0, request, *this);
  }
  DiskFixture& bench_;
  TimeNs until_;
  std::mt19937_64 random_{5};
};

TimeNs waited_far_away(QueuePolicy policy, std::uint32_t aging_permille) {
  DiskProfile profile = queued_profile(policy, 64, aging_permille);
  profile.read_buffer = {};  // every read goes to the medium
  DiskFixture b(kCacheOff, 1, profile);
  NearReads near(b, 4 * kSecondNs);
  near.start();
  return b.finish(b.submit(Op::read, 1900, 1)).completed_at;
}

TEST(DriveQueue, AgeingBoundsStarvation) {
  EXPECT_GT(waited_far_away(QueuePolicy::sptf, 0), 4 * kSecondNs);
  // Every positioning takes less than 20 ms. With an ageing factor of 0.1, a command that has
  // waited 200 ms longer than another one is therefore served first.
  EXPECT_LT(waited_far_away(QueuePolicy::aged_sptf, 100), 300 * kMillisecondNs);
}

TEST(DriveQueue, DestageFollowsThePolicy) {
  const auto until_clean = [](QueuePolicy policy) {
    DiskProfile profile = queued_profile(policy, 32);
    profile.write_cache = {512, 512, 16, kSecondNs, false};
    DiskFixture b(kCacheOn, 1, profile);
    std::mt19937_64 random(11);
    const auto data = DiskFixture::pattern(1, 1);
    for (int i = 0; i < 200; ++i) b.finish(b.submit_write(random() % 2000, data));
    const TimeNs begun = b.machine.simulation().now();
    return b.finish(b.submit(Op::flush)).completed_at - begun;
  };
  EXPECT_LT(until_clean(QueuePolicy::sptf), until_clean(QueuePolicy::c_look) * 4 / 5);
}

TEST(DriveQueue, ACutLosesAllWaitingCommands) {
  DiskFixture b(kCacheOff, 1, queued_profile(QueuePolicy::sptf, 4));
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 12; ++i) ids.push_back(b.submit(Op::read, i * 150, 1));
  b.run_for(30 * kMillisecondNs);
  b.machine.power_cut();
  b.drain();
  std::size_t lost = 0;
  for (const RequestId id : ids) lost += b.host.done[id].status == Status::power_lost ? 1 : 0;
  EXPECT_GT(lost, 4U);
  EXPECT_LT(lost, 12U);
  b.machine.power_on();
  EXPECT_EQ(b.finish(b.submit(Op::read, 5, 1)).status, Status::ok);
}

}  // namespace
}  // namespace headcrash::model
