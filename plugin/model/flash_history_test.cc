// Random histories over small flash devices: volatile buffer, protected buffer, no cache, no trim; buffers
// that are smaller than a request.
#include "plugin/model/flash.h"
#include "plugin/model/test_history.h"

namespace headcrash::model {
namespace {

using bench::AnyHistory;
using bench::HistoryRules;
using bench::MemoryStore;

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

class FlashHistory : public testing::TestWithParam<FlashShape> {
 protected:
  static HistoryRules rules() {
    const FlashShape& shape = GetParam();
    HistoryRules r;
    r.sectors = 200;
    r.trim = shape.trim;
    r.may_tear = !shape.protection;
    r.durable_at_ack = [shape](std::uint64_t) { return shape.protection || !shape.cache; };
    r.pause_ns = kMillisecondNs;
    return r;
  }
  static std::unique_ptr<Device> make(MemoryStore& store, std::uint64_t seed, Simulation& simulation,
                                      Witness& witness) {
    const FlashProfile profile = small_flash(GetParam());
    FlashOptions options{profile, simulation, witness};
    options.store = &store;
    options.seed = seed;
    options.write_cache = GetParam().cache;
    options.sectors = 200;
    return std::make_unique<Flash>(options);
  }
};

TEST_P(FlashHistory, KeepsTheRules) {
  std::uint64_t lost = 0;
  std::uint64_t torn = 0;
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {} {}", seed, GetParam().name));
    MemoryStore store(256);
    AnyHistory history(seed, rules(), [&](Simulation& s, Witness& w) { return make(store, seed, s, w); });
    history.run(1500);
    lost += history.lost_versions();
    torn += history.torn();
  }
  EXPECT_GT(lost, 100U) << "histories that never lose test nothing";
  EXPECT_EQ(torn > 50, !GetParam().protection) << torn;
}

TEST_P(FlashHistory, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    MemoryStore store(256);
    AnyHistory history(seed, rules(), [&](Simulation& s, Witness& w) { return make(store, seed, s, w); });
    history.run(800);
    return history.witness().log;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FlashHistory,
                         testing::Values(FlashShape{"volatile", true, false, true, 96, 2},
                                         FlashShape{"protected", true, true, true, 96, 2},
                                         FlashShape{"cache off", false, false, true, 64, 1},
                                         FlashShape{"no trim", true, false, false, 160, 3},
                                         FlashShape{"tiny buffer", true, false, true, 16, 1}));

}  // namespace
}  // namespace headcrash::model
