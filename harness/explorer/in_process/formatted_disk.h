#pragma once
// An empty file system, new or used, on a disk full of bytes from before mkfs (workload/stamp.h),
// made once, and the recording of its making, which the recordings of runs are based on: a state of
// theirs is a state for every other command, too (extract, recording, serve).

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fs-adapters/system_under_test.h"
#include "plugin/base/result.h"
#include "plugin/states/run_history.h"

namespace headcrash::in_process {

struct FormattedDisk {
  const adapters::FileSystemType* type = nullptr;
  std::vector<std::byte> bytes;  ///< of all its devices, one behind the other
  std::uint64_t log_at = 0;      ///< the second one's first sector; 0: there is none
  std::filesystem::path recording;
  std::string state;                                  ///< its last one
  std::shared_ptr<const states::RunHistory> history;  ///< the recording

  std::uint64_t sectors() const;
};

/// Replaces the recording if there is one. With LabDisk::used_by it is mounted by that system, some
/// directories are made and removed, which leaves their traces (an older mount's transactions,
/// inodes that were others'), and unmounted; with LabDisk::cut its power goes, after changes that
/// it does not keep. Errors: options that mkfs refuses; a folder that cannot be written.
Result<FormattedDisk> format_disk(const adapters::FileSystemType& type,
                                  const adapters::LabDisk& disk,
                                  const std::filesystem::path& recording);

}  // namespace headcrash::in_process
