// Tests a disk that is 90 % full, with a cleaner that is always active. Three users perform random
// operations and compare the results with their references (tree/testing/history.h). A fourth user
// keeps the disk full by creating, overwriting and removing files with known contents. No user may
// get ENOSPC. In the environment, HEADCRASH_SEEDS=n adds n seeds, and HEADCRASH_SEEDS_FROM sets the
// first seed.
#include <fmt/format.h>

#include "fs-adapters/lfs/testing/mounted.h"
#include "fs-adapters/substrate/tree/testing/ballast.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::lfs {
namespace {

using tree::bench::Ballast;
using tree::bench::User;

constexpr std::uint64_t kDeviceBytes = 24 << 20;
constexpr std::uint64_t kCacheBytes = 1 << 20;
constexpr int kSteps = 600;
constexpr int kUsers = 3;

void live_on_a_full_disk(std::uint32_t seed) {
  bench::Disk disk(
      {.device_bytes = kDeviceBytes,
       .mkfs = {
           .block_bytes = seed % 2 == 0 ? 1024U : 4096U, .segment_bytes = 64 << 10, .id = seed}});
  bench::Machine m(*disk.store, kCacheBytes, tree::bench::schedule_of(seed));
  const MountOptions options{
      .selection = seed % 3 == 0 ? Selection::greedy : Selection::cost_benefit,
      .clean_start = 10'000,
      .clean_stop = 10'000};
  m.mount(options);
  Ballast ballast(*m.file_system, seed);
  m.as_user([&] { ballast.fill(); });
  std::vector<std::unique_ptr<User>> users;
  std::vector<std::unique_ptr<os::Account>> accounts;
  int living = kUsers;
  const auto spawn = [&](std::function<void()> body) {
    accounts.push_back(std::make_unique<os::Account>());
    m.executor().spawn(os::Executor::Kind::user, *accounts.back(), std::move(body));
  };
  for (int i = 0; i < kUsers; ++i) {
    users.push_back(std::make_unique<User>(*m.file_system, fmt::format("u{}", i),
                                           seed * 100 + static_cast<std::uint32_t>(i)));
    spawn([&, i] {
      users[static_cast<std::size_t>(i)]->live(kSteps);
      --living;
    });
  }
  std::uint64_t least_full = 100;
  spawn([&] {
    while (living > 0 && !testing::Test::HasFailure()) {
      ballast.step();
      least_full = std::min(least_full, ballast.full_percent());
      m.executor().sleep_until(m.executor().now() + model::kMillisecondNs);
    }
  });
  m.executor().run();
  if (testing::Test::HasFailure()) return;
  EXPECT_GE(least_full, Ballast::kFullPercent - 4);
  EXPECT_GT(m.file_system->log().counters().segments_cleaned, 100U);
  EXPECT_GT(m.file_system->log().counters().blocks_moved, 1000U);
  m.unmount();
  bench::expect_clean(*disk.store);
  m.mount(options);
  ballast.moves_to(*m.file_system);
  m.as_user([&] { ballast.compare(); });
  for (const auto& user : users) {
    user->moves_to(*m.file_system);
    m.as_user([&] { user->compare(); });
  }
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(BusyCleaner, MovesOnlyLiveBlocks) {
  const auto first = static_cast<std::uint32_t>(number_from_environment("HEADCRASH_SEEDS_FROM", 1));
  const auto seeds = static_cast<std::uint32_t>(2 + number_from_environment("HEADCRASH_SEEDS", 0));
  for (std::uint32_t seed = first; seed < first + seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("HEADCRASH_SEEDS_FROM={}", seed));
    live_on_a_full_disk(seed);
  }
}

}  // namespace
}  // namespace headcrash::lfs
