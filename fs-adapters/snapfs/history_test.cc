// Tests random operations by several concurrent users (tree/testing/history.h). Compares the
// contents before and after an unmount, and expects the file system to be sound.

#include <memory>
#include <vector>

#include "fs-adapters/snapfs/image_reader.h"
#include "fs-adapters/snapfs/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::snapfs {
namespace {

using tree::bench::quarrel;
using tree::bench::User;

struct Arrangement {
  const char* name = "";
  MountOptions mount = {};
  std::uint64_t device_bytes = 8 << 20;
  std::uint64_t cache_bytes = 2 << 20;
};

constexpr os::TimeNs kOften = 200 * model::kMillisecondNs;

class History : public testing::TestWithParam<Arrangement> {};
INSTANTIATE_TEST_SUITE_P(
    Snapfs, History,
    testing::Values(
        Arrangement{.name = "plain"}, Arrangement{.name = "small_cache", .cache_bytes = 256 << 10},
        Arrangement{.name = "many_generations",
                    .mount = {.commit_interval_ns = kOften, .dirty_blocks_max = 20}},
        Arrangement{.name = "barrier",
                    .mount = {.dirty_blocks_max = 20, .spawn = Spawn::barrier_until_committed}},
        Arrangement{
            .name = "small_disk", .mount = {.dirty_blocks_max = 50}, .device_bytes = 3 << 20},
        Arrangement{.name = "data_copied",
                    .mount = {.data = DataMode::copy_on_write, .dirty_blocks_max = 30}},
        Arrangement{.name = "unordered", .mount = {.data = DataMode::unordered}},
        Arrangement{.name = "in_place", .mount = {.copy_on_write = false}}),
    [](const auto& test) { return test.param.name; });

TEST_P(History, ConcurrentUsersSeeAndKeepTheirOwnChanges) {
  // HEADCRASH_SEEDS=n in the environment adds n seeds, for thorough tests after a change.
  const auto seeds = static_cast<std::uint32_t>(2 + number_from_environment("HEADCRASH_SEEDS", 0));
  const Arrangement& setup = GetParam();
  for (std::uint32_t seed = 11; seed < 11 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    bench::Disk disk({.device_bytes = setup.device_bytes,
                      .mkfs = {.block_bytes = seed % 2 == 0 ? 1024U : 512U, .id = seed}});
    bench::Machine m(*disk.store, setup.cache_bytes, tree::bench::schedule_of(seed));
    m.mount(setup.mount);
    std::vector<std::unique_ptr<User>> users;
    std::vector<std::unique_ptr<os::Account>> accounts;
    m.as_user([&] { ASSERT_TRUE(m.file_system->mkdir("shared", 0755)); });
    for (std::uint32_t i = 0; i < 3; ++i) {
      users.push_back(
          std::make_unique<User>(*m.file_system, "u" + std::to_string(i), seed * 100 + i));
      accounts.push_back(std::make_unique<os::Account>());
      m.executor().spawn(os::Executor::Kind::user, *accounts.back(),
                         [&, i] { users[i]->live(150); });
      accounts.push_back(std::make_unique<os::Account>());
      m.executor().spawn(os::Executor::Kind::user, *accounts.back(),
                         [&, i] { quarrel(*m.file_system, seed * 200 + i, 150); });
    }
    m.executor().run();
    if (testing::Test::HasFailure()) return;
    m.unmount();
    bench::expect_clean(*disk.store);
    m.mount(setup.mount);
    for (const auto& user : users) {
      user->moves_to(*m.file_system);
      m.as_user([&] { user->compare(); });
    }
    m.unmount();
    bench::expect_clean(*disk.store);
  }
}

}  // namespace
}  // namespace headcrash::snapfs
