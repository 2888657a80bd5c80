// Tests histories of users who change the same names (workload/shared_names.h), under scheduled
// fibers, on every system. By default each system runs a few lists, each under several schedules.
// In the environment, HEADCRASH_HISTORIES=600 sets the number of lists, and
// HEADCRASH_HISTORIES_FROM sets the first list; each list then runs on only one system.
// HEADCRASH_HISTORIES_TYPE=lfs restricts the systems to that type.
#include "harness/workload/shared_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/explorer/in_process/testing/wanted_type.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kSharedStates = 60;
constexpr std::uint64_t kSchedulesEach = 6;
constexpr std::uint64_t kListsPerSystem = 4;

class SharedNames : public testing::Test {
 protected:
  void run(const adapters::SystemUnderTest& system, std::uint64_t number, std::uint64_t seed) {
    const std::string disk(number % 2 == 0 || !system.lab_disk("tiny") ? kPlainDisk : "tiny");
    SCOPED_TRACE(fmt::format("campaign {}-schemes/{}/shared-names/{}@{}~{}:{}",
                             system.type().name(), system.name(), number, disk, seed % 4, seed));
    const auto explorer = explorers_.get(disk, system);
    ASSERT_TRUE(explorer) << explorer.error().message();
    const auto result = (*explorer)->explorer.explore(system, workload::shared_names(number),
                                                      {.budget = kSharedStates,
                                                       .run = {.seed = seed,
                                                               .pause_ns_max = 0,
                                                               .order = seed % 4,
                                                               .schedule = seed,
                                                               .shared_names = true}},
                                                      folder_.path() / "run.hcrec");
    ASSERT_TRUE(result) << result.error().message();
    if (system.control()) return;
    EXPECT_FALSE(result->run.failure) << *result->run.failure;
    EXPECT_EQ(result->clean, result->checked);
    for (const ExploredState& failure : result->failures)
      ADD_FAILURE() << failure.state << ": " << failure.outcome.judgement.summary;
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
};

TEST_F(SharedNames, HaveASerialOrderOnEverySystem) {
  const auto systems = adapters::all_systems();
  const std::uint64_t first = number_from_environment("HEADCRASH_HISTORIES_FROM", 1);
  const std::uint64_t end =
      first + number_from_environment("HEADCRASH_HISTORIES", systems.size() * kListsPerSystem);
  for (std::uint64_t number = first; number < end; ++number) {
    const adapters::SystemUnderTest& system = *systems.at(number % systems.size());
    if (!is_of_wanted_type(system)) continue;
    for (std::uint64_t one = 1; one <= kSchedulesEach; ++one)
      run(system, number, number * kSchedulesEach + one);
    if (number % 1000 == 0) std::cout << "through list " << number << std::endl;
  }
}

/// In LFS, a flush may begin a segment and then find nothing to write, because another user has
/// just written all changes. The unmount must write the changed segment states nevertheless.
TEST_F(SharedNames, UnmountWritesASegmentStartedByAnEmptyFlush) {
  const auto system = adapters::find_system("lfs", "roll-forward");
  ASSERT_TRUE(system);
  for (const std::uint64_t seed : {401, 402, 403, 404}) run(**system, 100, seed);
}

TEST_F(SharedNames, EqualSchedulesGiveEqualRecordings) {
  const auto system = adapters::find_system("ufs", "soft-updates");
  ASSERT_TRUE(system);
  const auto explorer = explorers_.get("tiny", **system);
  ASSERT_TRUE(explorer) << explorer.error().message();
  StateDisk disk((*explorer)->formatted.bytes);
  std::set<std::string> bytes;
  for (const std::uint64_t schedule : {3, 4, 3}) {
    const auto path = folder_.path() / "repeated.hcrec";
    const auto run =
        record_run((*explorer)->formatted, disk, **system, workload::shared_names(3),
                   {.pause_ns_max = 0, .schedule = schedule, .shared_names = true}, path);
    ASSERT_TRUE(run) << run.error().message();
    std::ifstream file(path, std::ios::binary);
    bytes.insert({std::istreambuf_iterator<char>(file), {}});
  }
  EXPECT_EQ(bytes.size(), 2U);
}

}  // namespace
}  // namespace headcrash::in_process
