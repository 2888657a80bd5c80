// Runs random histories of small flash devices: with a volatile buffer, with a protected buffer,
// without a cache, without trim, and with buffers smaller than a request.
#include <gtest/gtest.h>

#include "plugin/model/flash/flash.h"
#include "plugin/model/testing/history_check.h"
#include "plugin/model/testing/machine_fixture.h"

namespace headcrash::model {
namespace {

using bench::LogObserver;
using bench::MemoryStore;

constexpr std::uint64_t kUsedSectors = 200;

struct FlashShape {
  const char* name;
  bool cache;
  bool protection;
  bool trim;
  std::uint32_t buffer_sectors;
  std::uint32_t luns;
};

FlashProfile small_flash(const FlashShape& shape) {
  FlashProfile p;
  p.name = "small-flash";
  p.capacity_sectors = 256;
  p.physical_sector_sectors = 4;
  p.queue_depth = 3;
  p.channels = 2;
  p.luns_per_channel = shape.luns;
  p.page_sectors = 16;
  p.pages_per_block = 4;
  p.read_ns = 40'000;
  p.program_ns = 600'000;
  p.erase_ns = 2'000'000;
  p.channel_sector_ns = 1'000;
  p.command_ns = 20'000;
  p.host_sector_ns = 500;
  p.buffer_sectors = shape.buffer_sectors;
  p.buffer_write_ns = 4'000;
  p.buffer_sector_ns = 100;
  p.buffer_idle_ns = 3 * kMillisecondNs;
  p.flush_ns = 50'000;
  p.trim_ns = 30'000;
  p.power_loss_protection = shape.protection;
  p.trim = shape.trim;
  return p;
}

struct FlashRig {
  FlashRig(const FlashShape& shape, std::uint64_t seed) : store(256) {
    const FlashProfile profile = small_flash(shape);
    FlashOptions options{profile, machine.simulation(), observer};
    options.store = &store;
    options.seed = seed;
    options.write_cache = shape.cache;
    options.sectors = kUsedSectors;
    machine.add_device("ssd", std::make_unique<Flash>(options));
  }
  MemoryStore store;
  LogObserver observer;
  Machine machine{observer};
};

class FlashHistory : public testing::TestWithParam<FlashShape> {
 protected:
  static HistoryOptions options_of(std::uint64_t seed) {
    const FlashShape& shape = GetParam();
    HistoryOptions o;
    o.seed = seed;
    o.sectors = kUsedSectors;
    o.large_request_sectors = 70;
    o.hot_sectors = kUsedSectors / 8;
    o.pause_ns_max = kMillisecondNs;
    o.power_returns_soon = true;
    o.may_tear = !shape.protection;
    o.durable_at_ack = [shape](std::uint64_t) { return shape.protection || !shape.cache; };
    return o;
  }
};

TEST_P(FlashHistory, SatisfiesTheDeviceContract) {
  std::uint64_t lost = 0;
  std::uint64_t torn = 0;
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} {}", seed, GetParam().name));
    FlashRig rig(GetParam(), seed);
    const HistoryReport report = check_history(rig.machine, options_of(seed));
    EXPECT_TRUE(report.clean()) << report;
    lost += report.lost_versions;
    torn += report.torn_sectors;
  }
  EXPECT_GT(lost, 100U) << "the histories must lose data";
  EXPECT_EQ(torn > 50, !GetParam().protection) << torn;
}

TEST_P(FlashHistory, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    FlashRig rig(GetParam(), seed);
    HistoryOptions options = options_of(seed);
    options.steps = 800;
    check_history(rig.machine, std::move(options));
    return rig.observer.log;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(Configurations, FlashHistory,
                         testing::Values(FlashShape{"volatile", true, false, true, 96, 2},
                                         FlashShape{"protected", true, true, true, 96, 2},
                                         FlashShape{"cache off", false, false, true, 64, 1},
                                         FlashShape{"no trim", true, false, false, 160, 3},
                                         FlashShape{"tiny buffer", true, false, true, 16, 1}));

}  // namespace
}  // namespace headcrash::model
