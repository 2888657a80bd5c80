// Tests the times of single commands, the durability of each kind of write, and the state of the
// medium after a power cut.
#include "plugin/model/disk/disk.h"

#include <gtest/gtest.h>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::kCacheOff;
using bench::kCacheOn;

TEST(Disk, ReadMissesAndHitsTakeTheTimesOfTheProfile) {
  DiskFixture b(kCacheOff);
  const Completion miss = b.finish(b.submit(Op::read, 0, 4));
  // The arm is ready at 0.5 ms, slot 4 arrives at 2.5 ms, and three of the four sectors are
  // buffered at 4.375 ms. Then the bus transfers four sectors.
  EXPECT_EQ(miss.completed_at,
            2'500'000 + 3 * 625'000 + 4 * 100'000 + 625'000 - 400'000 + 100'000 + 50'000);
  EXPECT_FALSE(miss.breakdown.cache_hit);
  EXPECT_EQ(miss.breakdown.rotation_ns, 2'000'000);
  EXPECT_EQ(miss.breakdown.transfer_ns, 2'500'000);
  EXPECT_EQ(miss.breakdown.overhead_ns + miss.breakdown.seek_ns + miss.breakdown.rotation_ns +
                miss.breakdown.transfer_ns,
            miss.completed_at);
  b.run_for(100 * kMillisecondNs);
  const Completion hit = b.finish(b.submit(Op::read, 4, 4));
  EXPECT_TRUE(hit.breakdown.cache_hit);
  EXPECT_EQ(hit.completed_at - hit.submitted_at, 400'000 + 4 * 100'000 + 50'000);
  EXPECT_EQ(b.disk->counters().cache_hits, 1U);
}

TEST(Disk, ReadAheadBuffersSectorsAsTheyPassTheHead) {
  DiskFixture b(kCacheOff);
  b.finish(b.submit(Op::read, 0, 4));
  b.run_for(kMillisecondNs);  // sector 4 has been buffered, but not the others
  const Completion next = b.finish(b.submit(Op::read, 4, 8));
  EXPECT_TRUE(next.breakdown.cache_hit);
  // Sector 11 is the last sector of the track. The head has passed this sector at 10 ms, and the
  // bus then sends it.
  EXPECT_EQ(next.completed_at, 10'000'000 + 100'000 + 50'000);
}

TEST(Disk, AReadOfTheSectorUnderTheHeadIsAMiss) {
  DiskFixture b(kCacheOff);
  const Completion first = b.finish(b.submit(Op::read, 0, 4));
  EXPECT_EQ(first.completed_at, 5'150'000);  // sector 4 passes from 5 to 5.625 ms
  const Completion next = b.finish(b.submit(Op::read, 4, 8));
  EXPECT_FALSE(next.breakdown.cache_hit);
  EXPECT_EQ(next.completed_at, 20'150'000)
      << "the read-ahead must stop and read it again one revolution later";
}

TEST(Disk, ASequentialReadJoinsTheReadAheadIfTheProfilePermitsIt) {
  DiskProfile p = bench::small_profile();
  p.read_buffer.joins_at_head = true;
  {
    DiskFixture b(kCacheOff, 1, p);
    b.finish(b.submit(Op::read, 0, 4));
    const Completion next = b.finish(b.submit(Op::read, 4, 8));
    EXPECT_TRUE(next.breakdown.cache_hit);
    // Sector 11 is the last sector of the track. The head has passed this sector at 10 ms, and the
    // bus then sends it.
    EXPECT_EQ(next.completed_at, 10'000'000 + 100'000 + 50'000);
  }
  DiskFixture b(kCacheOff, 1, p);
  b.finish(b.submit(Op::read, 0, 4));
  EXPECT_FALSE(b.finish(b.submit(Op::read, 5, 8)).breakdown.cache_hit)
      << "the head has not reached it";
}

/// Returns true if a read of eight sectors at `lba` is served without the medium.
bool is_hit(DiskFixture& b, std::uint64_t lba) {
  return b.finish(b.submit(Op::read, lba, 8)).breakdown.cache_hit;
}

TEST(Disk, AfterSequentialPolicyReadsAheadOnlyForAStream) {
  DiskProfile p = bench::small_profile();
  p.read_buffer.after_sequential = true;
  DiskFixture b(kCacheOff, 1, p);
  EXPECT_FALSE(is_hit(b, 100));
  b.run_for(100 * kMillisecondNs);
  EXPECT_FALSE(is_hit(b, 108)) << "no read-ahead after the first read";
  b.run_for(100 * kMillisecondNs);
  EXPECT_TRUE(is_hit(b, 116)) << "read-ahead after the second read";
  b.run_for(100 * kMillisecondNs);
  EXPECT_FALSE(is_hit(b, 300));
  b.run_for(100 * kMillisecondNs);
  EXPECT_FALSE(is_hit(b, 312)) << "near but not sequential";
}

/// Reads two sectors at `first`, waits for the time `later`, and reads two sectors at `lba`.
/// Returns true if the second read is a hit. LBN 0 is in slot 4 of the first track; the head
/// arrives at slot 8.
bool is_hit_of_whole_track(std::uint64_t first, TimeNs later, std::uint64_t lba) {
  DiskProfile p = bench::small_profile();
  p.read_buffer.whole_track = true;
  p.read_buffer.read_ahead_end = ReadAheadEnd::track_end;
  DiskFixture b(kCacheOff, 1, p);
  b.run_for(4'500'000);
  EXPECT_FALSE(b.finish(b.submit(Op::read, first, 2)).breakdown.cache_hit);
  b.run_for(later);
  return b.finish(b.submit(Op::read, lba, 2)).breakdown.cache_hit;
}

TEST(Disk, WholeTrackPolicyKeepsSectorsPassedBeforeTheRequest) {
  EXPECT_TRUE(is_hit_of_whole_track(6, 0, 4)) << "passed while the head waited";
  EXPECT_FALSE(is_hit_of_whole_track(6, 0, 0)) << "not read yet";
  EXPECT_TRUE(is_hit_of_whole_track(6, 20 * kMillisecondNs, 0));
  EXPECT_TRUE(is_hit_of_whole_track(6, 20 * kMillisecondNs, 10)) << "the end of the track";
  EXPECT_FALSE(is_hit_of_whole_track(6, 20 * kMillisecondNs, 12)) << "the next track";
  EXPECT_TRUE(is_hit_of_whole_track(14, 20 * kMillisecondNs, 12));
  EXPECT_FALSE(is_hit_of_whole_track(14, 20 * kMillisecondNs, 10)) << "the preceding track";
}

TEST(Disk, BufferDropsSectorsThatAreWrittenAndAllSectorsAtACut) {
  DiskProfile p = bench::small_profile();
  p.read_buffer.segments = 2;
  DiskFixture b(kCacheOff, 1, p);
  EXPECT_FALSE(is_hit(b, 100));
  EXPECT_TRUE(is_hit(b, 100));
  b.finish(b.submit(Op::write, 103, 1));
  EXPECT_FALSE(is_hit(b, 100)) << "only read ahead";
  EXPECT_FALSE(is_hit(b, 800));
  EXPECT_TRUE(is_hit(b, 100)) << "in a separate segment";
  b.finish(b.submit(Op::write, 103, 1));
  EXPECT_FALSE(is_hit(b, 100));
  EXPECT_TRUE(is_hit(b, 100));
  b.machine.power_cut();
  b.machine.power_on();
  EXPECT_FALSE(is_hit(b, 100));
}

TEST(Disk, WrittenDataIsReadableFromTheBufferUntilACut) {
  DiskProfile p = bench::small_profile();
  p.read_buffer.write_segments = 1;
  DiskFixture b(kCacheOff, 1, p);
  b.finish(b.submit(Op::write, 100, 8));
  EXPECT_TRUE(is_hit(b, 100));
  b.machine.power_cut();
  b.machine.power_on();
  EXPECT_FALSE(is_hit(b, 100));
}

TEST(Disk, WithoutCacheACompletedWriteIsDurable) {
  DiskFixture b(kCacheOff);
  EXPECT_FALSE(b.disk->characteristics().volatile_cache);
  const auto data = DiskFixture::pattern(3, 9);
  const Completion done = b.finish(b.submit_write(100, data));
  b.machine.power_cut();
  EXPECT_EQ(b.on_medium(100, 3), data);
  EXPECT_GT(done.breakdown.seek_ns, 0);
  EXPECT_EQ(b.disk->counters().media_sectors_written, 3U);
}

TEST(Disk, ACachedWriteCompletesFastAndIsLostAtACut) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(4, 9);
  const Completion done = b.finish(b.submit_write(100, data));
  EXPECT_EQ(done.completed_at, 600'000 + 4 * 100'000 + 50'000);
  EXPECT_EQ(b.on_medium(100, 4), DiskFixture::pattern(4, 0));
  std::vector<std::byte> seen(4 * kSectorBytes);
  EXPECT_TRUE(b.finish(b.submit_read(100, seen)).breakdown.cache_hit);
  EXPECT_EQ(seen, data);
  b.machine.power_cut();
  b.machine.power_on();
  b.finish(b.submit_read(100, seen));
  EXPECT_EQ(seen, DiskFixture::pattern(4, 0));
}

TEST(Disk, FlushAndFuaMakeWritesDurable) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(4, 9);
  b.finish(b.submit_write(100, data));
  b.finish(b.submit_write(300, data));
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  EXPECT_EQ(b.on_medium(100, 4), data);
  EXPECT_EQ(b.on_medium(300, 4), data);
  const auto newer = DiskFixture::pattern(2, 10);
  b.finish(b.submit_write(100, newer));
  b.finish(b.submit_write(101, DiskFixture::pattern(1, 11), true));
  EXPECT_EQ(b.on_medium(101, 1), DiskFixture::pattern(1, 11));
  b.finish(b.submit(Op::flush));
  EXPECT_EQ(b.on_medium(100, 1), DiskFixture::pattern(1, 10));
  EXPECT_EQ(b.on_medium(101, 1), DiskFixture::pattern(1, 11))
      << "the older cached version must not come back";
}

TEST(Disk, AWriteDuringTheDestageOfItsSectorsWins) {
  DiskFixture b(kCacheOn);
  const auto old = DiskFixture::pattern(4, 1);
  const auto fresh = DiskFixture::pattern(4, 2);
  b.finish(b.submit_write(100, old));
  b.run_for(20 * kMillisecondNs + 100'000);  // the destage is in progress
  ASSERT_EQ(b.observer.log.back().find("media"), std::string::npos);
  const RequestId write = b.submit_write(100, fresh);
  const RequestId flush = b.submit(Op::flush);
  b.finish(write);
  EXPECT_EQ(b.on_medium(100, 4), DiskFixture::pattern(4, 0));
  b.finish(flush);
  EXPECT_EQ(b.on_medium(100, 4), fresh);
  EXPECT_EQ(b.disk->counters().media_writes, 2U);
}

TEST(Disk, DestagesWhenIdleAndMergesAdjacentSectors) {
  DiskFixture b(kCacheOn);
  b.finish(b.submit_write(104, DiskFixture::pattern(4, 2)));
  b.finish(b.submit_write(100, DiskFixture::pattern(4, 1)));
  b.finish(b.submit_write(500, DiskFixture::pattern(1, 3)));
  b.drain();
  EXPECT_EQ(b.disk->counters().media_writes, 2U);
  EXPECT_EQ(b.disk->cached_dirty_sectors(), 0U);
  EXPECT_EQ(b.on_medium(100, 4), DiskFixture::pattern(4, 1));
  EXPECT_EQ(b.on_medium(104, 4), DiskFixture::pattern(4, 2));
}

TEST(Disk, HostReadPrecedesTheNextDestage) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(4, 1);
  for (const std::uint64_t lba : {100U, 500U, 900U}) b.finish(b.submit_write(lba, data));
  b.run_for(20 * kMillisecondNs + 100'000);  // the first destage is in progress
  const Completion read = b.finish(b.submit(Op::read, 700, 4));
  EXPECT_EQ(b.disk->counters().media_writes, 1U);
  EXPECT_EQ(b.disk->cached_dirty_sectors(), 8U);
  EXPECT_LT(read.breakdown.overhead_ns, kMillisecondNs)
      << "waiting for the destage is not overhead";
  b.drain();
  EXPECT_EQ(b.disk->counters().media_writes, 3U);
}

TEST(Disk, DestagesAboveHighWaterWhileTheHostIsBusy) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(12, 1);
  for (std::uint64_t i = 0; i < 4; ++i) b.finish(b.submit_write(i * 200, data));
  EXPECT_EQ(b.disk->counters().media_writes, 0U);
  b.run_for(15 * kMillisecondNs);  // less than the idle delay
  EXPECT_GE(b.disk->counters().media_writes, 1U);
}

TEST(Disk, CacheIsBoundedAndWritesWaitForSpace) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(16, 5);
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 12; ++i) ids.push_back(b.submit_write(i * 100, data));
  std::uint64_t most = 0;
  while (b.machine.simulation().run_next()) most = std::max(most, b.disk->cached_dirty_sectors());
  EXPECT_LE(most, b.profile.write_cache.capacity_sectors);
  EXPECT_GT(most, 40U);
  for (const RequestId id : ids) EXPECT_EQ(b.host.done[id].status, Status::ok);
  const auto large = DiskFixture::pattern(65, 6);
  b.finish(b.submit_write(200, large));
  EXPECT_EQ(b.on_medium(200, 65), large) << "larger than the cache: bypasses it";
}

/// Returns the time taken to write twelve tracks with sequential requests, including the destage.
TimeNs stream_ns(std::uint32_t request_sectors) {
  DiskProfile p = bench::small_profile();
  p.zones[0].slipped_tracks.clear();
  DiskFixture b(kCacheOn, 1, p);
  constexpr std::uint64_t kSectors = 12 * 16;
  std::uint64_t most = 0;
  for (std::uint64_t lba = 12; lba < 12 + kSectors; lba += request_sectors) {
    b.finish(b.submit_write(lba, DiskFixture::pattern(request_sectors, 1)));
    most = std::max(most, b.disk->cached_dirty_sectors());
  }
  EXPECT_LE(most, p.write_cache.capacity_sectors);
  b.finish(b.submit(Op::flush, 0, 0));
  EXPECT_EQ(b.on_medium(12, request_sectors), DiskFixture::pattern(request_sectors, 1));
  return b.machine.simulation().now();
}

TEST(Disk, ASequentialStreamOfWritesLosesNoRevolution) {
  // A track takes 10 ms, and the skew to the next track takes 1.9 or 3.1 ms.
  constexpr TimeNs kMedium = 12 * 10 * kMillisecondNs + 11 * 2'300'000;
  for (const std::uint32_t sectors : {4U, 8U, 16U, 24U})
    EXPECT_LT(stream_ns(sectors), kMedium + 25 * kMillisecondNs) << sectors;
}

TEST(Disk, AReadEndsAStreamOfWrites) {
  DiskFixture b(kCacheOn);
  for (std::uint64_t i = 0; i < 3; ++i) b.finish(b.submit_write(i * 8, DiskFixture::pattern(8, 1)));
  b.finish(b.submit(Op::read, 1000, 4));
  b.drain();
  for (std::uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(b.on_medium(i * 8, 8), DiskFixture::pattern(8, 1)) << i;
  EXPECT_EQ(b.disk->cached_dirty_sectors(), 0U);
}

TEST(Disk, ACutTearsOneSectorAndKeepsEarlierOnes) {
  DiskFixture b(kCacheOff, 2);  // with this seed, the sector becomes a mix of old and new bytes
  const auto data = DiskFixture::pattern(12, 9);
  b.submit_write(0, data);  // the sectors pass the head from 2.5 ms on, one every 0.625 ms
  b.run_for(2'500'000 + 3 * 625'000 + 300'000);
  b.machine.power_cut();
  b.drain();
  EXPECT_EQ(b.on_medium(0, 3), DiskFixture::pattern(3, 9));
  EXPECT_EQ(b.on_medium(4, 8), DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.observer.torn, 1U);
  const auto torn = b.on_medium(3, 1);
  const auto first_old = std::find(torn.begin(), torn.end(), std::byte{0});
  EXPECT_TRUE(std::all_of(first_old, torn.end(), [](std::byte x) { return x == std::byte{0}; }));
}

TEST(Disk, TearsAWholePhysicalSector) {
  DiskProfile profile = bench::small_profile();
  profile.physical_sector_sectors = 4;
  DiskFixture b(kCacheOff, 3, profile);
  const auto data = DiskFixture::pattern(12, 9);
  b.submit_write(0, data);
  b.run_for(2'500'000 + 6 * 625'000 + 300'000);
  b.machine.power_cut();
  EXPECT_EQ(b.on_medium(0, 4), DiskFixture::pattern(4, 9));
  EXPECT_EQ(b.on_medium(8, 4), DiskFixture::pattern(4, 0));
  EXPECT_EQ(b.observer.torn, 1U);
  EXPECT_NE(b.observer.log[b.observer.log.size() - 2].find("4+4 outcome1"), std::string::npos);
}

TEST(Disk, WritesZeroesAndTrims) {
  DiskFixture b(kCacheOn);
  const auto data = DiskFixture::pattern(8, 9);
  b.finish(b.submit_write(10, data));
  b.finish(b.submit(Op::write_zeroes, 12, 2));
  std::vector<std::byte> seen(8 * kSectorBytes);
  b.finish(b.submit_read(10, seen));
  EXPECT_EQ(seen[1 * kSectorBytes], std::byte{9});
  EXPECT_EQ(seen[2 * kSectorBytes], std::byte{0});
  EXPECT_EQ(seen[4 * kSectorBytes], std::byte{9});
  EXPECT_EQ(b.finish(b.submit(Op::trim, 10, 8)).status, Status::ok);
  b.finish(b.submit(Op::flush));
  EXPECT_EQ(b.on_medium(10, 8), seen) << "a trim must have no effect";
}

TEST(Disk, AStoreErrorFailsAllLaterRequests) {
  DiskFixture b(kCacheOff);
  b.store.broken = true;
  EXPECT_EQ(b.finish(b.submit_write(0, DiskFixture::pattern(1, 1))).status, Status::store_error);
  b.store.broken = false;
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::store_error);
}

TEST(Disk, ServesLargeRequestsAtAReducedSize) {
  bench::LogObserver observer;
  Simulation simulation;
  const DiskProfile profile = bench::small_profile();
  DiskOptions options{profile, simulation, observer};
  options.sectors = 1500;
  Disk disk(options);
  EXPECT_EQ(disk.characteristics().sectors, 1500U);
  bench::Host host;
  for (const Op op : {Op::read, Op::write, Op::write_zeroes}) {
    Request request;
    request.id = static_cast<RequestId>(op) + 1;
    request.op = op;
    request.sectors = 1500;
    disk.submit(request, host);
  }
  while (simulation.run_next()) {
  }
  EXPECT_EQ(host.done.size(), 3U);
  EXPECT_EQ(disk.counters().sectors_written, 3000U);
  EXPECT_LE(disk.counters().busy_ns, simulation.now());
}

}  // namespace
}  // namespace headcrash::model
