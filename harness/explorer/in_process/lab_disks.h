#pragma once
// The disks of the in-process lab, by name. What a workload can show depends on the disk: blocks
// are used again where there are few, indirect blocks are reached where blocks are small, a log
// goes round where it is as short as may be.
//
//   plain  16 MiB or so, as mkfs likes it
//   tiny   some hundred blocks: space is used again soon
//   deep   some hundred blocks as small as may be: maps of files have all their levels
//   used   as deep, but it was mounted, used and unmounted before; its log still holds what was done
//
// Their size and mkfs's options are each system's own (SystemUnderTest::lab_disk); one without
// such a disk leaves out the workloads that are meant for it. tiny, deep and used have the shortest
// log that there can be.

#include <array>
#include <string>
#include <string_view>

#include "fs-adapters/system_under_test.h"

namespace headcrash::in_process {

inline constexpr std::string_view kPlainDisk = "plain";
inline constexpr std::array<std::string_view, 4> kLabDisks{kPlainDisk, "tiny", "deep", "used"};

/// Errors tell all names.
Result<void> check_lab_disk_name(std::string_view name);
/// Errors: an unknown name; the system has no such disk.
Result<adapters::LabDisk> find_lab_disk(std::string_view name,
                                        const adapters::SystemUnderTest& system);

}  // namespace headcrash::in_process
