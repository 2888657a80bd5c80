// Names of disks (lab_disks.h).
#include "harness/explorer/in_process/lab_disks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace headcrash::in_process {

Result<void> check_lab_disk_name(std::string_view name) {
  if (std::ranges::find(kLabDisks, name) != kLabDisks.end()) return {};
  return fail("disk", fmt::format("none is called '{}'", name),
              fmt::format("there are {}", fmt::join(kLabDisks, ", ")));
}

Result<adapters::LabDisk> find_lab_disk(std::string_view name,
                                        const adapters::SystemUnderTest& system) {
  TRY(check_lab_disk_name(name));
  if (auto disk = system.lab_disk(name)) return *std::move(disk);
  return fail("disk", fmt::format("{} has none called '{}'", system.full_name(), name),
              "take another one");
}

}  // namespace headcrash::in_process
