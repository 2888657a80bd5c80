#pragma once
// The disks of the in-process lab, by name. The disk determines which errors a workload can expose:
// if there are few blocks, they are soon reused; small blocks require indirect blocks; and a short
// log wraps.
//
//   plain  about 16 MiB, with the defaults of mkfs
//   tiny   a few hundred blocks: space is soon reused
//   deep   a few hundred blocks of the smallest size: block maps have all levels
//   used   like deep, but mounted, used and unmounted before; its log still holds these changes
//
// Size and mkfs options depend on the system (SystemUnderTest::lab_disk). If a system does not have
// one of these disks, the workloads for it are omitted. tiny, deep and used have the shortest
// possible log.

#include <array>
#include <string>
#include <string_view>

#include "fs-adapters/system_under_test.h"

namespace headcrash::in_process {

inline constexpr std::string_view kPlainDisk = "plain";
inline constexpr std::array<std::string_view, 4> kLabDisks{kPlainDisk, "tiny", "deep", "used"};

/// Fails if the name is unknown, with an error that lists all names.
Result<void> check_lab_disk_name(std::string_view name);
/// Returns a disk by its name. Fails if the name is unknown or the system has no such disk.
Result<adapters::LabDisk> find_lab_disk(std::string_view name,
                                        const adapters::SystemUnderTest& system);

}  // namespace headcrash::in_process
