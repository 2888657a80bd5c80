#pragma once
// The known facts about the disks of a recording: the layout of the file system, and what each
// write changed. read() reads all writes once. Afterwards, each write can be described.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/explorer/explain/disk_map.h"
#include "harness/explorer/explain/ext_history.h"
#include "plugin/record/recording.h"
#include "plugin/states/run_history.h"

namespace headcrash::explorer {

class KnownDisks {
 public:
  /// Reads the writes to `devices`, but only as much of each write as its description needs. `type`
  /// is the file system type as in mount(2); if empty, the type is detected from the superblocks.
  /// Fails if the recording cannot be read.
  static Result<KnownDisks> read(const states::RunHistory& run, std::string_view type,
                                 const std::vector<model::DeviceId>& devices);

  /// Returns the facts about the write to `device` that this event submitted. The result is valid
  /// as long as this object exists. REQUIRES: `device` was passed to read().
  KnownDisk at(model::DeviceId device, std::uint64_t submitted_event) const;
  /// Returns the file system type of the first device whose type is known; an empty string if no
  /// type is known.
  std::string type() const;

 private:
  struct Disk {
    DiskMap map;
    std::optional<ExtHistory> history;
  };
  std::map<model::DeviceId, Disk> disks_;
};

/// Returns the beginning of a payload, long enough to describe the write. `bytes_at` is the
/// position of the payload in the recording.
Result<std::vector<std::byte>> described_bytes(const record::RecordingReader& reader,
                                               std::uint64_t bytes_at, std::uint32_t sectors);

}  // namespace headcrash::explorer
