// Tests individual rules of a cache over a small drive.
#include "plugin/model/nvram/nvram.h"

#include <gtest/gtest.h>

#include "plugin/model/faults/faults.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::DiskFixture;
using bench::Host;
using bench::LogObserver;
using bench::MemoryStore;

NvramProfile one_block_each() {
  NvramProfile p;
  p.name = "box";
  p.capacity_sectors = 64;
  p.block_sectors = 8;
  p.command_ns = 100'000;
  p.sector_ns = 10'000;
  p.high_water_permille = 750;
  p.low_water_permille = 500;
  p.destage_sectors_max = 32;
  p.battery_hold_ns = 10 * kSecondNs;
  return p;
}

struct NvramFixture {
  explicit NvramFixture(const NvramProfile& p = one_block_each(), bool volatile_below = false)
      : drive(bench::small_profile()),
        store(drive.capacity_sectors),
        machine(observer),
        battery(machine.simulation(), observer, 0, 1),
        drive_faults(machine.simulation(), observer, 1, 1) {
    DiskOptions disk{drive, machine.simulation(), observer};
    disk.store = &store;
    disk.device = 1;
    disk.write_cache = volatile_below;
    disk.faults = &drive_faults;
    NvramOptions options{p, machine.simulation(), observer, std::make_unique<Disk>(disk)};
    options.battery = &battery;
    auto made = std::make_unique<Nvram>(std::move(options));
    nvram = made.get();
    machine.add_device("box", std::move(made));
  }
  RequestId submit(Op op, std::uint64_t lba = 0, std::uint32_t sectors = 0) {
    Request request;
    request.op = op;
    request.lba = lba;
    request.sectors = sectors;
    return machine.submit(0, request, host);
  }
  Completion finish(RequestId id) {
    while (!host.has(id) && machine.simulation().run_next()) {
    }
    EXPECT_TRUE(host.has(id));
    return host.done[id];
  }
  Completion write(std::uint64_t lba, std::uint32_t sectors, int value, bool fua = false) {
    buffers.push_back(DiskFixture::pattern(sectors, value));
    Request request;
    request.op = Op::write;
    request.lba = lba;
    request.sectors = sectors;
    request.data = buffers.back();
    request.fua = fua;
    return finish(machine.submit(0, request, host));
  }
  std::vector<std::byte> read(std::uint64_t lba, std::uint32_t sectors,
                              Status status = Status::ok) {
    std::vector<std::byte> into(std::size_t{sectors} * kSectorBytes);
    Request request;
    request.lba = lba;
    request.sectors = sectors;
    request.into = into;
    EXPECT_EQ(finish(machine.submit(0, request, host)).status, status);
    return into;
  }
  std::vector<std::byte> below(std::uint64_t lba, std::uint32_t sectors) {
    std::vector<std::byte> bytes(std::size_t{sectors} * kSectorBytes);
    EXPECT_TRUE(store.read(lba, bytes).has_value());
    return bytes;
  }
  void add(DeviceFaults& to, FaultKind kind, std::uint64_t lba = 0, std::uint64_t sectors = 0) {
    FaultSpec fault;
    fault.kind = kind;
    fault.lba = lba;
    fault.sectors = sectors;
    EXPECT_TRUE(to.add(fault).has_value());
  }
  void off_for(TimeNs ns) {
    machine.power_cut();
    run_for(ns);
    machine.power_on();
  }
  void run_for(TimeNs ns) { machine.simulation().run_until(machine.simulation().now() + ns); }
  void drain() {
    while (machine.simulation().run_next()) {
    }
  }
  bool reported(std::string_view text) const {
    return std::any_of(observer.log.begin(), observer.log.end(), [text](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }
  NvramCounters counters() const { return nvram->nvram_counters(); }

  DiskProfile drive;
  MemoryStore store;
  LogObserver observer;
  Machine machine;
  DeviceFaults battery, drive_faults;
  Host host;
  Nvram* nvram = nullptr;
  std::deque<std::vector<std::byte>> buffers;
};

TEST(Nvram, AcknowledgesAWriteOnceItIsCopied) {
  NvramFixture b;
  const Completion c = b.write(100, 8, 1, true);
  EXPECT_EQ(c.completed_at - c.submitted_at, 100'000 + 8 * 10'000);
  EXPECT_TRUE(c.breakdown.cache_hit);
  EXPECT_EQ(b.below(100, 8), DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.read(100, 8), DiskFixture::pattern(8, 1));
  EXPECT_EQ(b.counters().read_hits, 1U);
  EXPECT_EQ(b.nvram->below().counters().reads, 0U);
  EXPECT_FALSE(b.nvram->characteristics().volatile_cache);
}

TEST(Nvram, AbsorbsRewritesOfAHotBlock) {
  NvramFixture b;
  constexpr std::uint32_t kRewrites = 500;
  for (std::uint32_t i = 0; i < kRewrites; ++i) b.write(80, 8, static_cast<int>(i % 250));
  EXPECT_EQ(b.counters().dirty_hits, kRewrites - 1);
  EXPECT_EQ(b.counters().absorbed_sectors, (kRewrites - 1) * 8U);
  EXPECT_EQ(b.nvram->below().counters().writes, 0U);
}

TEST(Nvram, CountsHitsByKind) {
  NvramFixture b;
  b.write(0, 8, 1);  // not counted, because count_kinds() has not been called yet
  b.nvram->count_kinds([](std::uint64_t lba) { return static_cast<std::uint8_t>(lba / 80); });
  // A write of kind 0 that hits the dirty block of the first write.
  b.write(0, 8, 2);
  b.write(4, 16, 3);                                   // three blocks, one of which was present
  for (int i = 0; i < 5; ++i) b.write(80, 4, 10 + i);  // kind 1
  // Writes of kind 1 to other sectors of the same block.
  for (int i = 0; i < 3; ++i) b.write(84, 4, 20 + i);
  b.write(72, 16, 30);  // one write that covers a block of each kind
  const NvramKinds& kinds = b.nvram->kinds();
  EXPECT_EQ(kinds[0].cached_writes, 1U + 3 + 1);
  EXPECT_EQ(kinds[0].dirty_hits, 1U + 1);
  EXPECT_EQ(kinds[1].cached_writes, 5U + 3 + 1);
  EXPECT_EQ(kinds[0].block_hits, 1U + 1);
  EXPECT_EQ(kinds[1].dirty_hits, 4U + 2 + 1) << "counts dirty sectors, not only dirty blocks";
  EXPECT_EQ(kinds[1].block_hits, 4U + 3 + 1);
  EXPECT_EQ(b.counters().cached_writes, kinds[0].cached_writes + kinds[1].cached_writes + 1);
  EXPECT_EQ(b.counters().dirty_hits, kinds[0].dirty_hits + kinds[1].dirty_hits);
  b.nvram->count_kinds({});
  b.write(0, 8, 4);
  EXPECT_EQ(kinds[0].cached_writes, 5U);
}

TEST(Nvram, KeepsHotBlocksAndWritesBackColdOnes) {
  NvramFixture b;
  for (std::uint64_t i = 0; i < 60; ++i) {
    b.write(0, 8, 7);                      // rewritten often
    b.write(100 + (i * 16) % 1500, 8, 9);  // another block each time
    b.run_for(30 * kMillisecondNs);
  }
  EXPECT_EQ(b.counters().dirty_hits, 59U);
  EXPECT_GT(b.counters().destages, 50U);
  EXPECT_EQ(b.below(0, 8), DiskFixture::pattern(8, 0)) << "the hot block must stay in the cache";
}

TEST(Nvram, WritesAdjacentBlocksBackTogether) {
  NvramProfile p = one_block_each();
  p.idle_delay_ns = 50 * kMillisecondNs;
  NvramFixture b(p);
  for (const std::uint64_t block : {3, 1, 2, 4, 0}) b.write(block * 8, 8, 5);
  b.drain();
  EXPECT_EQ(b.counters().destages, 2U) << "32 sectors at most";
  EXPECT_EQ(b.counters().destaged_sectors, 40U);
  EXPECT_EQ(b.below(0, 40), DiskFixture::pattern(40, 5));
  EXPECT_EQ(b.counters().dirty_sectors, 0U);
}

TEST(Nvram, WritesBackFromTheHighToTheLowWaterMark) {
  NvramFixture b;
  for (std::uint64_t i = 0; i < 5; ++i) b.write(i * 40, 8, 5);
  b.drain();
  EXPECT_EQ(b.counters().destages, 0U) << "5 of 8 blocks are below the high mark";
  b.write(5 * 40, 8, 5);
  b.drain();
  EXPECT_EQ(b.counters().destages, 2U) << "from 6 blocks down to 4";
}

/// Returns sectors 0 to 23. Sectors 9, 10 and 20 are cached before the read.
std::vector<std::byte> fill_in_part(NvramFixture& b) {
  std::vector<std::byte> expected = DiskFixture::pattern(24, 3);
  EXPECT_TRUE(b.store.write(0, expected).has_value());
  b.write(9, 2, 6);
  b.write(20, 1, 8);
  std::fill_n(expected.begin() + 9 * 512, 2 * 512, std::byte{6});
  std::fill_n(expected.begin() + 20 * 512, 512, std::byte{8});
  return expected;
}

TEST(Nvram, AReadCombinesCachedAndUncachedSectors) {
  NvramFixture b;
  const std::vector<std::byte> expected = fill_in_part(b);
  EXPECT_EQ(b.read(0, 24), expected);
  EXPECT_EQ(b.counters().read_hits, 0U);
}

TEST(Nvram, AnUnreadableSectorBelowMattersOnlyIfNotCached) {
  NvramFixture b;
  std::vector<std::byte> expected = fill_in_part(b);
  b.add(b.drive_faults, FaultKind::latent_error, 10, 1);
  b.add(b.drive_faults, FaultKind::latent_error, 20, 1);
  EXPECT_EQ(b.read(0, 24), expected) << "0-8, 11-19 and 21-23 must be read separately";
  EXPECT_EQ(b.read(10, 2),
            std::vector<std::byte>(expected.begin() + 10 * 512, expected.begin() + 12 * 512));
  b.add(b.drive_faults, FaultKind::latent_error, 15, 1);
  b.read(0, 24, Status::medium_error);
  b.read(14, 2, Status::medium_error);
  EXPECT_EQ(b.read(0, 15), std::vector<std::byte>(expected.begin(), expected.begin() + 15 * 512));
  b.write(15, 1, 7);
  std::fill_n(expected.begin() + 15 * 512, 512, std::byte{7});
  EXPECT_EQ(b.read(0, 24), expected);
}

TEST(Nvram, AReadFromBelowDoesNotReturnStaleData) {
  NvramProfile p = one_block_each();
  p.idle_delay_ns = 1;
  NvramFixture b(p);
  b.write(100, 8, 4);
  // Sector 104 is cached, but sector 99 is not. The read of 99..104 therefore goes to the device
  // below while the write-back of sector 104 is in flight.
  EXPECT_EQ(b.read(99, 6).back(), std::byte{4});
}

TEST(Nvram, LongWritesBypassAndInvalidateTheCache) {
  NvramFixture b;
  b.write(10, 8, 1);
  const Completion c = b.write(0, 80, 2);
  EXPECT_EQ(c.status, Status::ok);
  EXPECT_EQ(b.counters().write_throughs, 1U);
  EXPECT_EQ(b.counters().dirty_sectors, 0U);
  EXPECT_EQ(b.below(0, 80), DiskFixture::pattern(80, 2));
  b.off_for(kSecondNs);
  EXPECT_EQ(b.read(0, 80), DiskFixture::pattern(80, 2));
}

TEST(Nvram, WritesWaitForFreeSpace) {
  NvramFixture b;
  std::vector<RequestId> ids;
  for (std::uint64_t i = 0; i < 20; ++i) ids.push_back(b.submit(Op::write, i * 40, 8));
  for (const RequestId id : ids) EXPECT_EQ(b.finish(id).status, Status::ok);
  EXPECT_GT(b.counters().room_waits, 0U);
  EXPECT_EQ(b.counters().write_throughs, 0U);
}

TEST(Nvram, ContentsSurviveAPowerCutAndAreReplayed) {
  NvramFixture b;
  b.write(50, 3, 1);
  b.write(200, 16, 2);
  b.off_for(kSecondNs);
  EXPECT_EQ(b.read(200, 16), DiskFixture::pattern(16, 2)) << "readable even before the write-back";
  b.drain();
  EXPECT_EQ(b.counters().replayed_sectors, 19U);
  EXPECT_EQ(b.counters().lost_sectors, 0U);
  EXPECT_EQ(b.below(50, 3), DiskFixture::pattern(3, 1));
  EXPECT_EQ(b.below(200, 16), DiskFixture::pattern(16, 2));
  EXPECT_TRUE(b.reported("contents kept: 19 sectors"));
}

TEST(Nvram, ARewrittenSectorIsNotCountedAsReplayed) {
  NvramFixture b;
  b.write(50, 3, 1);
  b.off_for(kSecondNs);
  b.write(51, 1, 2);
  b.drain();
  EXPECT_EQ(b.counters().replayed_sectors, 2U);
  EXPECT_EQ(b.read(51, 1), DiskFixture::pattern(1, 2));
}

TEST(Nvram, ContentsAreLostAfterTheHoldTime) {
  NvramFixture b;
  b.write(50, 3, 1);
  b.off_for(10 * kSecondNs);
  EXPECT_EQ(b.read(50, 3), DiskFixture::pattern(3, 1)) << "still held at the last instant";
  b.drain();
  b.write(80, 3, 1);
  b.off_for(10 * kSecondNs + 1);
  EXPECT_EQ(b.read(80, 3), DiskFixture::pattern(3, 0));
  EXPECT_EQ(b.counters().lost_sectors, 3U);
  EXPECT_TRUE(b.reported("contents lost: 3 sectors"));
}

TEST(Nvram, ALowBatteryCausesWriteBackAndWriteThrough) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.battery, FaultKind::battery_low);
  b.write(300, 8, 2);
  EXPECT_EQ(b.nvram->state(), NvramState::error);
  EXPECT_EQ(b.below(300, 8), DiskFixture::pattern(8, 2));
  b.drain();
  EXPECT_EQ(b.below(50, 8), DiskFixture::pattern(8, 1));
  EXPECT_EQ(b.counters().dirty_sectors, 0U);
  b.battery.clear();
  b.write(400, 8, 3);
  EXPECT_EQ(b.nvram->state(), NvramState::up);
  EXPECT_EQ(b.below(400, 8), DiskFixture::pattern(8, 0));
}

TEST(Nvram, ShutdownWritesBackAndCachingContinues) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.write(300, 8, 2);
  EXPECT_EQ(b.below(50, 8), DiskFixture::pattern(8, 0));
  b.nvram->shut_down();
  EXPECT_EQ(b.counters().dirty_sectors, 0U);
  EXPECT_EQ(b.below(50, 8), DiskFixture::pattern(8, 1));
  EXPECT_EQ(b.below(300, 8), DiskFixture::pattern(8, 2));
  b.write(400, 8, 3);
  EXPECT_EQ(b.below(400, 8), DiskFixture::pattern(8, 0)) << "the cache must be used again";
}

TEST(Nvram, ShutdownEndsIfTheMediumFails) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.drive_faults, FaultKind::dead);
  b.nvram->shut_down();
  EXPECT_EQ(b.counters().dirty_sectors, 8U) << "kept";
}

TEST(Nvram, ALowBatteryStillKeepsContents) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.battery, FaultKind::battery_low);
  b.off_for(kSecondNs);
  EXPECT_EQ(b.read(50, 8), DiskFixture::pattern(8, 1));
}

TEST(Nvram, ADeadBatteryLosesDirtyContents) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.battery, FaultKind::battery_dead);
  b.off_for(1);
  EXPECT_EQ(b.nvram->state(), NvramState::down);
  EXPECT_EQ(b.read(50, 8), DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.counters().lost_sectors, 8U);
  b.write(60, 8, 2);
  b.off_for(1);
  EXPECT_EQ(b.read(60, 8), DiskFixture::pattern(8, 2))
      << "the write that went through must survive";
}

TEST(Nvram, ABatteryReplacedWhileOffDoesNotRestoreContents) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.battery, FaultKind::battery_dead);
  b.machine.power_cut();
  b.battery.clear();
  b.machine.power_on();
  EXPECT_EQ(b.nvram->state(), NvramState::up);
  EXPECT_EQ(b.read(50, 8), DiskFixture::pattern(8, 0));
  EXPECT_EQ(b.counters().lost_sectors, 8U);
}

TEST(Nvram, WithADeadBatteryAFlushWaitsForTheContents) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.battery, FaultKind::battery_dead);
  EXPECT_EQ(b.finish(b.submit(Op::flush)).status, Status::ok);
  EXPECT_EQ(b.below(50, 8), DiskFixture::pattern(8, 1));
}

TEST(Nvram, WriteBacksAreDurableOnTheDriveBelow) {
  NvramProfile p = one_block_each();
  p.idle_delay_ns = kMillisecondNs;
  NvramFixture b(p, true);
  b.write(50, 8, 1);
  b.drain();
  EXPECT_EQ(b.counters().dirty_sectors, 0U);
  EXPECT_EQ(b.below(50, 8), DiskFixture::pattern(8, 1)) << "must not be in the drive's cache only";
  EXPECT_FALSE(b.nvram->characteristics().volatile_cache);
}

TEST(Nvram, ForwardsRequestsOutsideItsRange) {
  NvramProfile p = one_block_each();
  p.range_lba = 64;
  p.range_sectors = 64;
  NvramFixture b(p, true);
  EXPECT_TRUE(b.nvram->characteristics().volatile_cache);
  b.write(0, 8, 1);
  b.write(64, 8, 2);
  // This write is partly outside the range. It therefore bypasses the cache, and is durable when it
  // is acknowledged.
  b.write(60, 8, 3);
  EXPECT_EQ(b.counters().write_throughs, 2U);
  EXPECT_EQ(b.below(0, 8), DiskFixture::pattern(8, 0)) << "still in the drive's volatile cache";
  EXPECT_EQ(b.below(60, 8), DiskFixture::pattern(8, 3));
  b.finish(b.submit(Op::flush));
  EXPECT_EQ(b.below(0, 8), DiskFixture::pattern(8, 1));
  b.off_for(kSecondNs);
  EXPECT_EQ(b.read(68, 4), DiskFixture::pattern(4, 2));
  EXPECT_EQ(b.read(60, 8), DiskFixture::pattern(8, 3));
}

TEST(Nvram, AFailedWriteBackKeepsTheDirtyContents) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.add(b.drive_faults, FaultKind::dead);
  b.off_for(kSecondNs);  // the write-back at power-on fails, because the drive is dead
  b.drain();
  EXPECT_EQ(b.nvram->state(), NvramState::error);
  EXPECT_EQ(b.counters().failed_destages, 1U);
  EXPECT_EQ(b.write(90, 8, 2).status, Status::device_failed) << "state ERROR: writes go through";
  EXPECT_EQ(b.read(50, 8), DiskFixture::pattern(8, 1));
  b.drive_faults.clear();
  b.write(48, 16, 3);  // this write covers the failed blocks
  EXPECT_EQ(b.nvram->state(), NvramState::up);
  EXPECT_EQ(b.below(48, 16), DiskFixture::pattern(16, 3));
}

TEST(Nvram, KeepsTheCompleteSectorsOfAnInterruptedCopy) {
  NvramFixture b;
  b.write(0, 8, 1);
  b.buffers.push_back(DiskFixture::pattern(8, 2));
  Request request;
  request.op = Op::write;
  request.sectors = 8;
  request.data = b.buffers.back();
  b.machine.submit(0, request, b.host);
  b.run_for(100'000 + 3 * 10'000 + 5'000);
  b.off_for(kSecondNs);
  const auto seen = b.read(0, 8);
  for (std::size_t s = 0; s < 8; ++s) {
    const std::vector<std::byte> sector(seen.begin() + static_cast<std::ptrdiff_t>(s * 512),
                                        seen.begin() + static_cast<std::ptrdiff_t>(s * 512 + 512));
    if (s != 3) {
      EXPECT_EQ(sector, DiskFixture::pattern(1, s < 3 ? 2 : 1)) << s;
    } else {
      EXPECT_TRUE(sector == DiskFixture::pattern(1, 1) || sector == DiskFixture::pattern(1, 2));
    }
  }
}

TEST(Nvram, NotifiesTheObserverOfDurableSectors) {
  NvramFixture b;
  b.write(50, 8, 1);
  b.write(0, 80, 2);
  int media = 0;
  for (const std::string& line : b.observer.log)
    media += line.find(" media 0 ") != std::string::npos ? 1 : 0;
  EXPECT_EQ(media, 2);
  EXPECT_TRUE(b.reported("media 0 1 50+8"));
}

TEST(Nvram, RejectsInvalidParameters) {
  EXPECT_TRUE(validate(one_block_each()).has_value());
  const auto wrong = [](auto change) {
    NvramProfile p = one_block_each();
    change(p);
    return !validate(p).has_value();
  };
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.block_sectors = 0; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.block_sectors = 65; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.capacity_sectors = 60; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.low_water_permille = 800; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.destage_sectors_max = 4; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.destage_depth = 0; }));
  EXPECT_TRUE(wrong([](NvramProfile& p) { p.sector_ns = -1; }));
}

}  // namespace
}  // namespace headcrash::model
