// Looks up disks by name (lab_disks.h).
#include "harness/explorer/in_process/lab_disks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace headcrash::in_process {

Result<void> check_lab_disk_name(std::string_view name) {
  if (std::ranges::find(kLabDisks, name) != kLabDisks.end()) return {};
  return fail("disk", fmt::format("unknown disk '{}'", name),
              fmt::format("use {}", fmt::join(kLabDisks, ", ")));
}

Result<adapters::LabDisk> find_lab_disk(std::string_view name,
                                        const adapters::SystemUnderTest& system) {
  TRY(check_lab_disk_name(name));
  if (auto disk = system.lab_disk(name)) return *std::move(disk);
  return fail("disk", fmt::format("{} has no disk '{}'", system.full_name(), name),
              "use another disk");
}

}  // namespace headcrash::in_process
