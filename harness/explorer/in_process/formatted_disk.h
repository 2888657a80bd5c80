#pragma once
// An empty file system, new or used, on a disk full of bytes from before mkfs (workload/stamp.h), made once,
// and the recording of its making, which the recordings of runs are based on: a state of theirs is a state
// for every other command, too (extract, recording, serve).

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/ufs/file_system.h"
#include "fs-adapters/ufs/mkfs.h"
#include "plugin/base/result.h"
#include "plugin/states/run_history.h"

namespace headcrash::in_process {

struct FormattedDisk {
  std::vector<std::byte> bytes;
  std::filesystem::path recording;
  std::string state;                                  ///< its last one
  std::shared_ptr<const states::RunHistory> history;  ///< the recording

  std::uint64_t sectors() const;
};

/// Replaces the recording if there is one. `used_by`: it is mounted so, some directories are made and
/// removed, which leaves their traces (an older mount's transactions, inodes that were others'), and
/// unmounted. Errors: options that mkfs refuses; a folder that cannot be written.
Result<FormattedDisk> format_disk(std::uint64_t disk_bytes, const ufs::MkfsOptions& options,
                                  const std::filesystem::path& recording,
                                  const std::optional<ufs::MountOptions>& used_by = {});

}  // namespace headcrash::in_process
