// Runs a shared history under many schedules (search_schedules.h).
#include "harness/explorer/in_process/search_schedules.h"

#include <fmt/format.h>

namespace headcrash::in_process {
namespace {

/// Number of request orders to use: 0 is the elevator, 1 to 3 are random (RunOptions::order).
constexpr std::uint64_t kOrders = 4;

}  // namespace

Result<SearchedSchedules> search_schedules(const FormattedDisk& formatted, StateDisk& disk,
                                           const adapters::SystemUnderTest& system,
                                           std::span<const workload::Operation> operations,
                                           const RunOptions& options, const ScheduleSearch& search,
                                           const std::filesystem::path& recording) {
  SearchedSchedules found;
  const auto run = [&](const RunOptions& one, const std::string& name) -> Result<bool> {
    TRY(const auto recorded, record_run(formatted, disk, system, operations, one, recording));
    ++found.schedules;
    if (recorded.failure) found.failure = fmt::format("schedule {}: {}", name, *recorded.failure);
    return !recorded.failure;
  };
  if (search.deviations > 0) {
    os::ScheduleEnumerator schedule(search.deviations);
    RunOptions one = options;
    one.own_schedule = &schedule;
    one.order = 0;
    do {
      TRY(const bool fine, run(one, schedule.name()));
      if (!fine) return found;
    } while (schedule.next() && found.schedules < search.enumerated_most);
  }
  for (std::size_t i = 1; i <= search.random; ++i) {
    RunOptions one = options;
    one.schedule = options.schedule * search.random + i;
    one.order = one.schedule % kOrders;
    TRY(const bool fine, run(one, std::to_string(one.schedule)));
    if (fine) continue;
    found.failed_run = one;
    return found;
  }
  return found;
}

}  // namespace headcrash::in_process
