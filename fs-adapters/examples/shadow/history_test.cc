// Tests random operations by several concurrent users (tree/testing/history.h). Compares the
// contents before and after an unmount, and checks the image.
#include "fs-adapters/substrate/tree/testing/history.h"

#include "fs-adapters/examples/shadow/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::shadow {
namespace {

struct Arrangement {
  const char* name = "";
  std::uint64_t device_bytes = 4 << 20;
  std::uint64_t cache_bytes = 2 << 20;
  const char* block_size = "1024";
};

class History : public testing::TestWithParam<Arrangement> {};
INSTANTIATE_TEST_SUITE_P(Shadow, History,
                         testing::Values(Arrangement{.name = "plain"},
                                         Arrangement{.name = "small_cache",
                                                     .cache_bytes = 128 << 10},
                                         Arrangement{.name = "small_blocks", .block_size = "512"},
                                         Arrangement{.name = "pages", .block_size = "4096"}),
                         [](const auto& made) { return made.param.name; });

TEST_P(History, ConcurrentUsersSeeAndKeepTheirOwnChanges) {
  // HEADCRASH_SEEDS=N in the environment adds N seeds.
  const auto seeds = static_cast<std::uint32_t>(2 + number_from_environment("HEADCRASH_SEEDS", 0));
  const Arrangement& setup = GetParam();
  for (std::uint32_t seed = 31; seed < 31 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto disk = bench::make_disk(setup.device_bytes,
                                       {{"block-size", setup.block_size}, {"inodes", "2000"}});
    bench::Machine m(*disk, {.system = {.cache = {.bytes = setup.cache_bytes},
                                        .executor = {.schedule = tree::bench::schedule_of(seed)}}});
    m.mount();
    m.as_user([&] { ASSERT_TRUE(m.file_system->mkdir("shared", 0755)); });
    std::vector<std::unique_ptr<tree::bench::User>> users;
    std::vector<std::unique_ptr<os::Account>> accounts;
    for (std::uint32_t i = 0; i < 3; ++i) {
      users.push_back(std::make_unique<tree::bench::User>(*m.file_system, "u" + std::to_string(i),
                                                          seed * 100 + i));
      for (const bool alone : {true, false}) {
        accounts.push_back(std::make_unique<os::Account>());
        m.machine.system.executor.spawn(os::Executor::Kind::user, *accounts.back(), [&, i, alone] {
          if (alone) return users[i]->live(150);
          tree::bench::quarrel(*m.file_system, seed * 200 + i, 150);
        });
      }
    }
    m.machine.system.executor.run();
    if (testing::Test::HasFailure()) return;
    m.unmount();
    bench::expect_clean(*disk);
    m.mount();
    for (const auto& user : users) {
      user->moves_to(*m.file_system);
      m.as_user([&] { user->compare(); });
    }
    m.unmount();
    bench::expect_clean(*disk);
  }
}

}  // namespace
}  // namespace headcrash::shadow
