// Tests zero-latency access, the phase of the spindle, DiskSim's lag, and read segments.
#include <gtest/gtest.h>

#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::kCacheOff;

DiskProfile zero_latency_profile() {
  DiskProfile profile = bench::small_profile();
  profile.zero_latency = true;
  return profile;
}

TEST(ZeroLatency, AWholeTrackTakesOneRevolution) {
  DiskProfile profile = zero_latency_profile();
  Mechanism mechanism(profile);
  profile.zero_latency = false;
  const Mechanism usual(profile);
  MediaAccess planned;
  for (TimeNs base = 0; base < 10 * kMillisecondNs; base += 130'000) {
    Transfer transfer;
    transfer.lbn = 28;  // the first LBN of a track of 16 sectors
    transfer.sectors = 16;
    transfer.base = base;
    mechanism.place_arm({1, 0});
    mechanism.plan(transfer, planned);
    EXPECT_LE(planned.end_ps, 10'000'000'000 + 625'000'000) << base;
    std::uint32_t sectors = 0;
    for (const TrackTransfer& pass : planned.passes) sectors += pass.sectors;
    EXPECT_EQ(sectors, 16U);
    MediaAccess in_order;
    usual.plan(transfer, in_order);
    EXPECT_LE(planned.end_ps, in_order.end_ps);
  }
}

TEST(ZeroLatency, AReadThatStartsMidTrackReturnsCorrectData) {
  DiskFixture b(kCacheOff, 1, zero_latency_profile());
  const auto data = DiskFixture::pattern(12, 7);
  b.finish(b.submit_write(0, data));
  std::vector<std::byte> seen(data.size());
  b.run_for(6 * kMillisecondNs);
  EXPECT_EQ(b.finish(b.submit_read(0, seen)).status, Status::ok);
  EXPECT_EQ(seen, data);
}

TEST(ZeroLatency, ACutCanLeaveTheEndOfAWriteNewAndItsStartOld) {
  DiskProfile profile = zero_latency_profile();
  profile.overhead.bus_write_sector_ns = 10'000;
  // With this seed, the torn sector is a mix of old and new bytes.
  DiskFixture b(kCacheOff, 2, profile);
  const auto data = DiskFixture::pattern(12, 9);
  // Slots 4 to 15 (LBAs 0 to 11) pass from 2.5 to 10 ms. The command and its data arrive at 4.2 ms,
  // and the arm is ready at 4.8 ms, in the middle of slot 7. Writing therefore begins with slot 8.
  b.run_for(4'200'000);
  b.submit_write(0, data);
  b.run_for(4'200'000);  // the cut is at 8.4 ms, in slot 13
  b.machine.power_cut();
  b.drain();
  const auto fresh = [&b](std::uint64_t lba) {
    return b.on_medium(lba, 1) == DiskFixture::pattern(1, 9);
  };
  EXPECT_EQ(b.on_medium(0, 4), DiskFixture::pattern(4, 0)) << "the front was not written yet";
  for (std::uint64_t lba = 4; lba < 9; ++lba) EXPECT_TRUE(fresh(lba)) << lba;
  EXPECT_EQ(b.on_medium(10, 2), DiskFixture::pattern(2, 0)) << "the head had not reached it";
  EXPECT_EQ(b.observer.torn, 1U);
}

TEST(Spindle, PhaseSetsTheAngleAtTimeZero) {
  const DiskProfile profile = bench::small_profile();
  const auto first_read = [&profile](std::uint32_t phase_ppm) {
    Simulation simulation;
    bench::LogObserver observer;
    DiskOptions options{profile, simulation, observer};
    options.spindle_phase_ppm = phase_ppm;
    Disk disk(options);
    bench::Host host;
    Request request;
    request.id = 1;
    request.sectors = 4;
    disk.submit(request, host);
    while (simulation.run_next()) {
    }
    return host.done[1].breakdown.rotation_ns;
  };
  EXPECT_EQ(first_read(0), 2'000'000);
  EXPECT_EQ(first_read(100'000), 1'000'000) << "a tenth of a revolution later";
  EXPECT_EQ(first_read(250'000), 9'500'000) << "just missed";
}

TEST(Spindle, LagGrowsWithSectorsPassed) {
  Rotation pure(10'000'000'000), lagging(10'000'000'000, 700);
  pure.lag_behind(1000);
  lagging.lag_behind(1000);
  EXPECT_EQ(pure.angle_ps(kSecondNs), 0);
  EXPECT_EQ(lagging.angle_ps(kSecondNs), 10'000'000'000 - 700'000);
}

TEST(ReadSegments, ServeSeveralStreamsAndDropTheOldest) {
  DiskProfile profile = bench::small_profile();
  profile.read_buffer.segments = 2;
  DiskFixture b(kCacheOff, 1, profile);
  const auto hit = [&b](std::uint64_t lba) {
    const bool cache_hit = b.finish(b.submit(Op::read, lba, 4)).breakdown.cache_hit;
    b.run_for(50 * kMillisecondNs);
    return cache_hit;
  };
  EXPECT_FALSE(hit(100));
  EXPECT_FALSE(hit(900));
  EXPECT_TRUE(hit(104)) << "the first stream's segment is still kept";
  EXPECT_TRUE(hit(904));
  EXPECT_FALSE(hit(1500));
  EXPECT_FALSE(hit(108)) << "dropped for the third stream";
}

TEST(ReadSegments, AWriteDropsOverlappingRanges) {
  DiskProfile profile = bench::small_profile();
  profile.read_buffer.segments = 2;
  profile.read_buffer.write_segments = 1;
  DiskFixture b(kCacheOff, 1, profile);
  b.finish(b.submit(Op::read, 100, 4));
  b.finish(b.submit(Op::read, 900, 4));
  const auto data = DiskFixture::pattern(2, 5);
  b.finish(b.submit_write(101, data));
  EXPECT_FALSE(b.finish(b.submit(Op::read, 102, 2)).breakdown.cache_hit)
      << "half of it was written, half dropped";
  std::vector<std::byte> seen(data.size());
  b.finish(b.submit_write(301, data));
  EXPECT_TRUE(b.finish(b.submit_read(301, seen)).breakdown.cache_hit);
  EXPECT_EQ(seen, data);
}

}  // namespace
}  // namespace headcrash::model
