// Tests two to four users who change the same names. The users run under all schedules that differ
// from FIFO order in a few places, and under some random schedules (search_schedules.h). A system
// runs every tenth list by default. In the environment, HEADCRASH_DEVIATIONS=2 sets the maximum
// number of differences, HEADCRASH_ALL_LISTS=1 runs all lists on all systems, and HEADCRASH_LIST=N
// runs only list N.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "harness/explorer/in_process/search_schedules.h"
#include "harness/explorer/in_process/testing/wanted_type.h"
#include "harness/workload/shared_names.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

class EnumeratedSchedules : public testing::Test {
 protected:
  void enumerate(const adapters::SystemUnderTest& system, std::size_t list) {
    SCOPED_TRACE(fmt::format("{}: list {}", system.full_name(), list));
    const std::string disk_name(list % 2 == 0 && system.lab_disk("tiny") ? "tiny" : kPlainDisk);
    const auto explorer = explorers_.get(disk_name, system);
    ASSERT_TRUE(explorer) << explorer.error().message();
    const FormattedDisk& formatted = (*explorer)->formatted;
    StateDisk disk(formatted);
    const auto searched =
        search_schedules(formatted, disk, system, workload::short_shared_names(list),
                         {.pause_ns_max = 0, .schedule = 1, .shared_names = true},
                         {.deviations = number_from_environment("HEADCRASH_DEVIATIONS", 1),
                          .random = number_from_environment("HEADCRASH_RANDOM_SCHEDULES", 10)},
                         folder_.path() / "run.hcrec");
    ASSERT_TRUE(searched) << searched.error().message();
    EXPECT_FALSE(searched->failure) << *searched->failure;
    EXPECT_GT(searched->schedules, 5U);
    schedules_ += static_cast<int>(searched->schedules);
    RecordProperty(system.full_name(), schedules_);
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
  int schedules_ = 0;
};

TEST_F(EnumeratedSchedules, HaveASerialOrder) {
  constexpr std::size_t kListsApart = 10;
  const std::size_t only = number_from_environment("HEADCRASH_LIST", workload::kShortSharedLists);
  const auto systems = adapters::all_systems();
  const std::size_t apart =
      number_from_environment("HEADCRASH_ALL_LISTS", 0) != 0 ? 1 : kListsApart;
  for (std::size_t i = 0; i < systems.size(); ++i) {
    // Skip the controls. Controls are wrong on purpose, and may fail even without a power cut.
    if (systems[i]->control() || !is_of_wanted_type(*systems[i])) continue;
    for (std::size_t list = 0; list < workload::kShortSharedLists && !HasFailure(); ++list)
      if (only < workload::kShortSharedLists ? list == only : list % apart == i % apart)
        enumerate(*systems[i], list);
  }
}

}  // namespace
}  // namespace headcrash::in_process
