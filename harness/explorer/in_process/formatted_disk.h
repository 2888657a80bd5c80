#pragma once
// An empty file system, new or used, on a disk filled with bytes from before mkfs
// (workload/stamp.h). Its formatting is recorded once, and recordings of runs are based on it. All
// other commands can therefore use their states (extract, recording, serve).

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
  std::vector<std::byte> bytes;  ///< of all devices, one after another
  std::uint64_t log_at = 0;      ///< first sector of the second device; 0 if none
  std::filesystem::path recording;
  std::string state;                                  ///< its last state
  std::shared_ptr<const states::RunHistory> history;  ///< the recording

  std::uint64_t sectors() const;
};

/// Formats a disk. Replaces an existing recording. With LabDisk::used_by, that system mounts it,
/// creates and removes some directories, which leave traces (transactions of an older mount,
/// previously used inodes), and unmounts. With LabDisk::cut, the power is cut after changes that it
/// does not keep. Fails if mkfs rejects the options or the folder is unwritable.
Result<FormattedDisk> format_disk(const adapters::FileSystemType& type,
                                  const adapters::LabDisk& disk,
                                  const std::filesystem::path& recording);

}  // namespace headcrash::in_process
