// Tests random histories of all operations under all schemes that should be correct. No operation
// may fail, and every crash state must be permitted. The tree after the last sync must equal that
// of a perfect file system, because the oracle then permits no other tree. By default each scheme
// runs one seed, which determines the disk, the request order, the schedule, the cache size and the
// number of users (one or three). In the environment, HEADCRASH_HISTORIES=600 sets the number of
// seeds, and HEADCRASH_HISTORIES_FROM sets the first seed. HEADCRASH_HISTORIES_TYPE=lfs restricts
// the systems to that type; each seed then runs on one of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/explorer/in_process/testing/wanted_type.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::uint64_t kStates = 150;

std::vector<const adapters::SystemUnderTest*> systems_that_keep_rules() {
  std::vector<const adapters::SystemUnderTest*> systems = adapters::all_systems();
  std::erase_if(systems, [](const adapters::SystemUnderTest* system) {
    return system->control() || !is_of_wanted_type(*system);
  });
  return systems;
}

/// Runs one seed, which determines all parameters. Consecutive seeds run under different schemes.
/// No parameter may therefore depend on a simple property of the seed, such as its parity;
/// otherwise, some schemes might never run with some values of the parameter.
void expect_without_a_flaw(DiskExplorers& explorers, const adapters::SystemUnderTest& system,
                           std::uint64_t seed, const std::filesystem::path& recording) {
  std::mt19937_64 draw(seed);
  std::string disk(kLabDisks.at(draw() % kLabDisks.size()));
  if (!system.lab_disk(disk)) disk = kPlainDisk;
  const std::uint64_t order = draw() % 8;
  const bool small_cache = draw() % 2 == 0, users = draw() % 4 == 0;
  const std::uint64_t schedule = draw() % 2 == 0 ? seed : 0;
  SCOPED_TRACE(fmt::format(
      "HEADCRASH_HISTORIES_TYPE={} HEADCRASH_HISTORIES_FROM={} HEADCRASH_HISTORIES=1 ({}, {})",
      only_type(), seed, system.full_name(), disk));
  const auto explorer = explorers.get(disk, system);
  ASSERT_TRUE(explorer) << explorer.error().message();
  const std::uint32_t largest = disk == kPlainDisk ? 32 : 12;
  const auto operations =
      workload::random_operations({.seed = seed,
                                   .rounds = 80,
                                   .largest_blocks = largest,
                                   .threads = static_cast<std::uint8_t>(users ? 3 : 1),
                                   .longest_target = 400});
  const auto result =
      (*explorer)->explorer.explore(system, operations,
                                    {.budget = kStates,
                                     .run = {.seed = seed,
                                             .cache_bytes = small_cache ? 512U << 10 : 4U << 20,
                                             .order = order,
                                             .schedule = schedule}},
                                    recording);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_FALSE(result->run.failure) << *result->run.failure;
  EXPECT_GT(result->checked, 0U);
  EXPECT_EQ(result->clean, result->checked);
  for (const ExploredState& failure : result->failures)
    ADD_FAILURE() << failure.state << " " << oracle::name(failure.outcome.judgement.verdict) << ": "
                  << failure.outcome.judgement.summary << "; last reported operation: "
                  << (failure.outcome.persisted ? fmt::to_string(*failure.outcome.persisted)
                                                : "none");
}

TEST(RandomHistories, AreFreeOfFindings) {
  const TemporaryFolder folder;
  DiskExplorers explorers(folder.path());
  const auto systems = systems_that_keep_rules();
  ASSERT_FALSE(systems.empty()) << "no file system has the type " << only_type();
  const std::uint64_t first = number_from_environment("HEADCRASH_HISTORIES_FROM", 1);
  const std::uint64_t end = first + number_from_environment("HEADCRASH_HISTORIES", systems.size());
  for (std::uint64_t seed = first; seed < end; ++seed) {
    expect_without_a_flaw(explorers, *systems.at(seed % systems.size()), seed,
                          folder.path() / "run.hcrec");
    if (seed % 1000 == 0) std::cout << "through seed " << seed << std::endl;
  }
}

}  // namespace
}  // namespace headcrash::in_process
