// Runs random histories of requests and power cuts on whole stacks
// (plugin/model/testing/history_check.h).
#include <gtest/gtest.h>

#include "plugin/model/testing/history_check.h"
#include "plugin/model/testing/machine_fixture.h"
#include "plugin/profiles/build.h"

namespace headcrash::profiles {
namespace {

constexpr std::uint64_t kBytes = 16 << 20;

class StackHistory : public testing::TestWithParam<const char*> {};

TEST_P(StackHistory, SatisfiesTheDeviceContract) {
  const auto stack = load_stack(GetParam());
  ASSERT_TRUE(stack) << stack.error().message();
  MachineDevice top{"hd0", *stack};
  top.size_bytes = kBytes;
  const auto planned = plan({top});
  ASSERT_TRUE(planned) << planned.error().message();
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= 3 && !HasFailure(); ++seed) {
    std::map<model::DeviceId, std::unique_ptr<model::bench::MemoryStore>> stores;
    model::bench::LogObserver observer;
    BuildOptions how;
    how.seed = seed;
    how.store = [&](model::DeviceId id) {
      auto& store = stores[id];
      if (!store) store = std::make_unique<model::bench::MemoryStore>(planned->all[id].sectors);
      return store.get();
    };
    auto built = build(*planned, observer, how);
    ASSERT_TRUE(built) << built.error().message();
    model::HistoryOptions options;
    options.seed = seed;
    options.steps = 600;
    options.in_flight_max = 8;
    options.large_request_sectors = 100;
    options.pause_ns_max = 100 * model::kMillisecondNs;
    const model::HistoryReport report = model::check_history(*built->machine, options);
    std::string incidents;
    for (const std::string& line : observer.log)
      if (line.find(" incident ") != std::string::npos) incidents += "\n  " + line;
    EXPECT_TRUE(report.clean()) << GetParam() << " seed " << seed << ": " << report
                                << incidents.substr(0, 2000);
    cuts += report.cuts;
  }
  EXPECT_GT(cuts, 3U);
}

INSTANTIATE_TEST_SUITE_P(Stacks, StackHistory,
                         testing::Values("hp-c2447", "sata-ssd", "nvme-plp", "raid0-2", "raid1-2",
                                         "raid4-5", "raid5-5", "raid6-6", "netra-raid5",
                                         "netra-raid5-presto"));

}  // namespace
}  // namespace headcrash::profiles
