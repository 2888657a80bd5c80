// Tests random operations by several concurrent users (tree/testing/history.h). Compares the
// contents before and after an unmount, and expects the file system to be sound.

#include <memory>
#include <vector>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;
using tree::bench::quarrel;
using tree::bench::User;

class History : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Ufs, History, testing::ValuesIn(bench::all_setups()), bench::test_name);

TEST_P(History, ConcurrentUsersSeeAndKeepTheirOwnChanges) {
  // HEADCRASH_SEEDS=N in the environment adds N seeds.
  const auto seeds = static_cast<std::uint32_t>(2 + number_from_environment("HEADCRASH_SEEDS", 0));
  for (std::uint32_t seed = 11; seed < 11 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Mounted m(GetParam(), {.device_bytes = 8 << 20,
                           .cache_bytes = seed % 2 == 0 ? 4U << 20 : 192U << 10,
                           .schedule = tree::bench::schedule_of(seed)});
    m.mount();
    std::vector<std::unique_ptr<User>> users;
    std::vector<std::unique_ptr<os::Account>> accounts;
    m.as_user([&] { ASSERT_TRUE(m.file_system->mkdir("shared", 0755)); });
    for (std::uint32_t i = 0; i < 3; ++i) {
      users.push_back(
          std::make_unique<User>(*m.file_system, "u" + std::to_string(i), seed * 100 + i));
      accounts.push_back(std::make_unique<os::Account>());
      m.executor.spawn(os::Executor::Kind::user, *accounts.back(), [&, i] { users[i]->live(150); });
      accounts.push_back(std::make_unique<os::Account>());
      m.executor.spawn(os::Executor::Kind::user, *accounts.back(),
                       [&, i] { quarrel(*m.file_system, seed * 200 + i, 150); });
    }
    m.executor.run();
    if (testing::Test::HasFailure()) return;
    m.unmount();
    bench::expect_clean(*m.store);
    m.as_user([&] { EXPECT_TRUE(m.cache.flush_all() == model::Status::ok), m.cache.drop_clean(); });
    m.mount();
    for (const auto& user : users) {
      user->moves_to(*m.file_system);
      m.as_user([&] { user->compare(); });
    }
    m.unmount();
  }
}

}  // namespace
}  // namespace headcrash::ufs
