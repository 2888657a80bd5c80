#pragma once
// Creates an empty file system, new or used, on a disk that was first filled with recognisable
// bytes (workload/stamp.h). The formatting is recorded once, and the recordings of runs use this
// recording as their base. The commands that read recordings (extract, recording, serve) can
// therefore use states of these runs.

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
  std::vector<std::byte> bytes;        ///< contents of all devices, one after the other
  std::vector<std::uint64_t> digests;  ///< states::digest_sum() of each sector of `bytes`
  std::uint64_t log_at = 0;            ///< first sector of the second device; 0 if absent
  std::filesystem::path recording;
  std::string state;                                  ///< the last state of the recording
  std::shared_ptr<const states::RunHistory> history;  ///< the recording

  std::uint64_t sectors() const;
};

/// Formats a disk and records the requests. Replaces an existing recording. With LabDisk::used_by,
/// the named system then mounts the disk, creates and removes directories, and unmounts. This
/// leaves traces on the disk, for example old transactions in the log and used inodes. With
/// LabDisk::cut, the system also makes changes that the next mount must discard, and the power is
/// cut. Fails if mkfs rejects the options or the directory cannot be written.
Result<FormattedDisk> format_disk(const adapters::FileSystemType& type,
                                  const adapters::LabDisk& disk,
                                  const std::filesystem::path& recording);

}  // namespace headcrash::in_process
