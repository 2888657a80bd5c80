#pragma once
// A workload run on a fresh file system on a stage, recorded.
//
//   empty disk --mkfs--> formatted.hcrec          once for a file system and size; kept and used again
//   formatted  --mount, operations, marks, seal--> workload.hcrec (its base is the formatted disk's last
//   state)

#include "harness/lab/stage_guest.h"

namespace headcrash::lab {

struct FormattedDisk {
  std::filesystem::path recording;
  std::string state;  ///< its last one, all writes there
};
/// `image_variant`: "" or a variant of harness/workload/aged_image.h (aged, tiny-journal).
Step<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                const std::filesystem::path& recording, const std::string& uuid);

struct RecordedWorkload {
  std::filesystem::path recording;
  std::vector<workload::Operation> operations;
  std::vector<workload::Mishap> mishaps;
  std::uint64_t from_event = 0;  ///< the mark "phase workload": cuts before it are of no interest
  std::uint64_t to_event = 0;    ///< the mark "phase end", before the unmount
  std::optional<std::string> failure;
};
Step<RecordedWorkload> record_workload(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                       const FormattedDisk& disk,
                                       const std::vector<workload::Operation>& operations,
                                       const std::filesystem::path& recording);

}  // namespace headcrash::lab
