// Runs lists of operations by two or three users who change the same names, under all schedules
// that differ from FIFO order in a few places (os/fiber_schedule.h). Each list runs on some of the
// systems. HEADCRASH_DEVIATIONS=2 in the environment sets the maximum number of differences, and
// HEADCRASH_ALL_LISTS=1 runs all lists on all systems.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/registry.h"
#include "harness/explorer/in_process/disk_explorers.h"
#include "plugin/base/testing/number_from_environment.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::in_process {
namespace {

constexpr std::size_t kSchedulesMost = 2'000;  // for each list on each system

/// The lists. In each, '|' separates the set-up and the operations of each user.
constexpr std::array kLists{
    "create a | rename a b | unlink a",
    "create a | rename a b | rename a c",
    "create a, create b | rename a b | rename b a",
    "create a | link a b | unlink a",
    "create a | unlink a, create a | fsync a, unlink a",
    "create a | open a %f, write %f 0 1024 1 1, close %f | unlink a, create b",
    "create a | open a %f, write %f 0 1024 1 1 | open a %g, truncate %g 512, fsync %g",
    "mkdir d | create d/a | rmdir d",
    "mkdir d, create a | rename a d/b | rmdir d",
    "mkdir d, create a | link a d/b | rmdir d",
    "mkdir d, mkdir e | rename e d/f | rmdir d",
    "mkdir d, create d/a | rename d/a d/b | rename d e",
    "mkdir d, mkdir e, create d/a | rename d/a e/a | unlink d/a, rmdir d",
    "mkdir d, mkdir e | rename d e/x | rename e d/y",
    "create a, mkdir d | rename-exchange a d | rmdir d",
    "create a | fsync a, unlink a | sync, create b",
    "create a | sync, unlink a | sync, create b | sync, create a",
};

/// Splits a text into parts and removes the blanks around each part.
std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string part(text.substr(0, end));
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<workload::Operation> operations_of(std::string_view list) {
  std::string lines;
  const auto parts = parts_of(list, '|');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& line : parts_of(parts[i], ','))
      lines += (i > 1 ? fmt::format("@{} ", i - 1) : "") + line + "\n";
    if (i == 0) lines += "sync\njoin\n";
  }
  return *workload::parse_operations(lines + "join\nsync\n", "list");
}

class EnumeratedSchedules : public testing::Test {
 protected:
  void enumerate(const adapters::SystemUnderTest& system, const char* list) {
    SCOPED_TRACE(fmt::format("{}: {}", system.full_name(), list));
    const auto explorer = explorers_.get(std::string(kPlainDisk), system);
    ASSERT_TRUE(explorer) << explorer.error().message();
    const FormattedDisk& formatted = (*explorer)->formatted;
    StateDisk disk(formatted.bytes, formatted.log_at);
    const auto operations = operations_of(list);
    os::ScheduleEnumerator schedule(number_from_environment("HEADCRASH_DEVIATIONS", 1));
    std::size_t schedules = 0;
    do {
      const auto run =
          record_run(formatted, disk, system, operations,
                     {.pause_ns_max = 0, .own_schedule = &schedule, .shared_names = true},
                     folder_.path() / "run.hcrec");
      ASSERT_TRUE(run) << run.error().message();
      ASSERT_FALSE(run->failure) << "schedule " << schedule.name() << ": " << *run->failure;
    } while (schedule.next() && ++schedules < kSchedulesMost);
    EXPECT_GT(schedules, 5U);
    RecordProperty(system.full_name(), static_cast<int>(schedules));
  }

  TemporaryFolder folder_;
  DiskExplorers explorers_{folder_.path()};
};

TEST_F(EnumeratedSchedules, HaveASerialOrder) {
  const auto systems = adapters::all_systems();
  const bool all = number_from_environment("HEADCRASH_ALL_LISTS", 0) != 0;
  for (std::size_t i = 0; i < systems.size(); ++i)
    for (std::size_t list = 0; list < kLists.size() && !HasFailure(); ++list)
      if (all || list == i % kLists.size()) enumerate(*systems[i], kLists.at(list));
}

}  // namespace
}  // namespace headcrash::in_process
