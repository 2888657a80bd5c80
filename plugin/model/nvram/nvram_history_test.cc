// Runs random histories of a cache over a small drive. In some variants, the drive has a volatile
// cache, the range covers only part of the drive, or the memory is smaller than the requests need.
#include <gtest/gtest.h>

#include "plugin/model/nvram/nvram.h"
#include "plugin/model/testing/array_fixture.h"
#include "plugin/model/testing/history_check.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::LogObserver;
using bench::MemoryStore;

constexpr std::uint64_t kHistorySectors = 200;

struct CacheShape {
  const char* name;
  bool volatile_below;
  bool whole;
  std::uint32_t capacity_sectors;
  std::uint32_t depth;
  bool trim;
  /// If true, requests to the device below take random times instead of a drive's service times.
  bool any_order = false;
};

NvramProfile small_cache(const CacheShape& shape) {
  NvramProfile p;
  p.name = "small-cache";
  p.capacity_sectors = shape.capacity_sectors;
  p.block_sectors = 8;
  p.range_lba = shape.whole ? 0 : 21;
  p.range_sectors = shape.whole ? 0 : 130;
  p.command_ns = 100'000;
  p.sector_ns = 20'000;
  p.high_water_permille = 700;
  p.low_water_permille = 400;
  p.idle_delay_ns = 25 * kMillisecondNs;
  p.destage_sectors_max = 24;
  p.destage_depth = shape.depth;
  p.battery_hold_ns = kSecondNs;
  return p;
}

struct CacheStack {
  CacheStack(const CacheShape& shape, std::uint64_t seed)
      : drive(bench::small_profile()), cache(small_cache(shape)), store(drive.capacity_sectors) {
    drive.trim = shape.trim;
    NvramOptions options{cache, machine.simulation(), observer, below(shape, seed)};
    options.seed = seed;
    auto made = std::make_unique<Nvram>(std::move(options));
    nvram = made.get();
    machine.add_device("box", std::move(made));
  }
  std::unique_ptr<Device> below(const CacheShape& shape, std::uint64_t seed) {
    if (shape.any_order)
      return std::make_unique<bench::TestMember>(
          machine.simulation(), observer, &store, DeviceId{1}, kHistorySectors, seed,
          bench::MemberTraits{shape.volatile_below, shape.trim, kMillisecondNs,
                              12 * kMillisecondNs});
    DiskOptions disk{drive, machine.simulation(), observer};
    disk.store = &store;
    disk.device = 1;
    disk.seed = seed;
    disk.write_cache = shape.volatile_below;
    disk.sectors = kHistorySectors;
    return std::make_unique<Disk>(disk);
  }
  DiskProfile drive;
  NvramProfile cache;
  MemoryStore store;
  LogObserver observer;
  Machine machine{observer};
  Nvram* nvram = nullptr;
};

HistoryOptions cache_options(const CacheShape& shape, std::uint64_t seed) {
  HistoryOptions o;
  o.seed = seed;
  o.sectors = kHistorySectors;
  o.large_request_sectors = 70;
  o.hot_sectors = kHistorySectors / 8;
  o.off_ns_max = 900 * kMillisecondNs;  // the battery lasts for one second
  o.power_returns_soon = true;
  o.durable_at_ack = [shape](std::uint64_t lba) {
    return !shape.volatile_below || shape.whole || (lba >= 21 && lba < 151);
  };
  return o;
}

class NvramHistory : public testing::TestWithParam<CacheShape> {};

TEST_P(NvramHistory, SatisfiesTheDeviceContract) {
  NvramCounters sum;
  for (std::uint64_t seed = 1; seed <= 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} {}", seed, GetParam().name));
    CacheStack stack(GetParam(), seed);
    const HistoryReport report = check_history(stack.machine, cache_options(GetParam(), seed));
    EXPECT_TRUE(report.clean()) << report;
    const NvramCounters c = stack.nvram->nvram_counters();
    sum.dirty_hits += c.dirty_hits;
    sum.destages += c.destages;
    sum.read_hits += c.read_hits;
    sum.write_throughs += c.write_throughs;
    sum.replayed_sectors += c.replayed_sectors;
    sum.room_waits += c.room_waits;
    EXPECT_EQ(c.lost_sectors, 0U);
    EXPECT_EQ(c.failed_destages, 0U);
  }
  EXPECT_GT(sum.dirty_hits, 100U) << "the histories must include dirty hits";
  EXPECT_GT(sum.destages, 100U);
  EXPECT_GT(sum.read_hits, 50U);
  EXPECT_GT(sum.replayed_sectors, 100U);
  EXPECT_GT(sum.room_waits, GetParam().capacity_sectors < 100 ? 10U : 0U);
  const bool some_go_through = !GetParam().whole || GetParam().capacity_sectors < 70;
  EXPECT_EQ(sum.write_throughs > 50, some_go_through) << sum.write_throughs;
}

TEST_P(NvramHistory, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    CacheStack stack(GetParam(), seed);
    HistoryOptions options = cache_options(GetParam(), seed);
    options.steps = 600;
    check_history(stack.machine, std::move(options));
    return stack.observer.log;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(
    Configurations, NvramHistory,
    testing::Values(CacheShape{"durable below", false, true, 64, 1, false},
                    CacheShape{"volatile below", true, true, 64, 3, true},
                    CacheShape{"a part, volatile below", true, false, 96, 2, true},
                    CacheShape{"a part, durable below", false, false, 40, 2, false},
                    CacheShape{"large", true, true, 160, 4, false},
                    CacheShape{"any order below", true, true, 64, 3, true, true}));

}  // namespace
}  // namespace headcrash::model
