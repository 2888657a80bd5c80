// Tests random operations by several concurrent users (tree/testing/history.h). Compares the
// contents before and after an unmount, and expects the file system to be sound.

#include <memory>
#include <vector>

#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/lfs/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::lfs {
namespace {

using tree::bench::quarrel;
using tree::bench::User;

struct Arrangement {
  const char* name = "";
  MountOptions mount = {};
  std::uint64_t device_bytes = 8 << 20;
  std::uint64_t cache_bytes = 2 << 20;
  bool checksums = true;
};

class History : public testing::TestWithParam<Arrangement> {};
INSTANTIATE_TEST_SUITE_P(
    Lfs, History,
    testing::Values(Arrangement{.name = "plain"},
                    Arrangement{.name = "small_cache", .cache_bytes = 256 << 10},
                    Arrangement{.name = "greedy_on_a_small_disk",
                                .mount = {.selection = Selection::greedy},
                                .device_bytes = 5 << 20},
                    Arrangement{.name = "busy_cleaner",
                                .mount = {.clean_start = 1000, .clean_stop = 1001},
                                .cache_bytes = 1 << 20},
                    Arrangement{.name = "sprite92", .checksums = false}),
    [](const auto& made) { return made.param.name; });

TEST_P(History, ConcurrentUsersSeeAndKeepTheirOwnChanges) {
  // HEADCRASH_SEEDS=n in the environment adds n seeds, for thorough tests after a change.
  const auto seeds = static_cast<std::uint32_t>(2 + number_from_environment("HEADCRASH_SEEDS", 0));
  const Arrangement& setup = GetParam();
  for (std::uint32_t seed = 11; seed < 11 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    bench::Disk disk({.device_bytes = setup.device_bytes,
                      .mkfs = {.block_bytes = seed % 2 == 0 ? 1024U : 512U,
                               .segment_bytes = 64 << 10,
                               .checksums = setup.checksums,
                               .id = seed}});
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
}  // namespace headcrash::lfs
