// Tests two users who change the same names, under all schedules that differ from FIFO order in a
// few places (os/fiber_schedule.h). Each pair of short lists runs on some of the systems.
// HEADCRASH_DEVIATIONS=2 in the environment sets the maximum number of differences, and
// HEADCRASH_ALL_PAIRS=1 runs all pairs on all systems.
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

constexpr std::size_t kSchedulesMost = 2'000;  // per pair and system

/// Lists: the set-up, then both users.
constexpr std::array kPairs{
    "create a | rename a b | @1 unlink a",
    "create a | rename a b | @1 rename a c",
    "create a, create b | rename a b | @1 rename b a",
    "create a | link a b | @1 unlink a",
    "create a | unlink a, create a | @1 fsync a, unlink a",
    "create a | open a %f, write %f 0 1024 1 1, close %f | @1 unlink a, create b",
    "create a | open a %f, write %f 0 1024 1 1 | @1 open a %g, truncate %g 512, fsync %g",
    "mkdir d | create d/a | @1 rmdir d",
    "mkdir d, create d/a | rename d/a d/b | @1 rename d e",
    "mkdir d, mkdir e, create d/a | rename d/a e/a | @1 unlink d/a, rmdir d",
    "mkdir d, mkdir e | rename d e/x | @1 rename e d/y",
    "create a, mkdir d | rename-exchange a d | @1 rmdir d",
    "create a | fsync a, unlink a | @1 sync, create b",
};

/// Returns the parts of a text without the blanks around them.
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

std::vector<workload::Operation> list_of(std::string_view pair) {
  std::string lines;
  const auto parts = parts_of(pair, '|');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool second = parts[i].starts_with("@1");
    for (const std::string& line : parts_of(parts[i], ','))
      lines += (second && !line.starts_with("@1") ? "@1 " : "") + line + "\n";
    if (i == 0) lines += "sync\njoin\n";
  }
  return *workload::parse_operations(lines + "join\nsync\n", "pair");
}

class EnumeratedSchedules : public testing::Test {
 protected:
  void enumerate(const adapters::SystemUnderTest& system, const char* pair) {
    SCOPED_TRACE(fmt::format("{}: {}", system.full_name(), pair));
    const auto explorer = explorers_.get(std::string(kPlainDisk), system);
    ASSERT_TRUE(explorer) << explorer.error().message();
    const FormattedDisk& formatted = (*explorer)->formatted;
    StateDisk disk(formatted.bytes, formatted.log_at);
    const auto operations = list_of(pair);
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
  const bool all = number_from_environment("HEADCRASH_ALL_PAIRS", 0) != 0;
  for (std::size_t i = 0; i < systems.size(); ++i)
    for (std::size_t pair = 0; pair < kPairs.size() && !HasFailure(); ++pair)
      if (all || pair == i % kPairs.size()) enumerate(*systems[i], kPairs.at(pair));
}

}  // namespace
}  // namespace headcrash::in_process
