#pragma once
// The disks of a recording: the layout of the file system, and the changes of each write. All
// writes are read once; afterwards each can be described.

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
  /// Reads the writes to `devices`, or their beginnings. `type` is that of mount(2), or empty to
  /// use the superblocks. Fails if the recording cannot be read.
  static Result<KnownDisks> read(const states::RunHistory& run, std::string_view type,
                                 const std::vector<model::DeviceId>& devices);

  /// Returns the facts about the write to `device` submitted as that event of the recording. Valid
  /// while this object exists. REQUIRES: one of read()'s devices.
  KnownDisk at(model::DeviceId device, std::uint64_t submitted_event) const;
  /// Returns the type of the first device that has one; otherwise empty.
  std::string type() const;

 private:
  struct Disk {
    DiskMap map;
    std::optional<ExtHistory> history;
  };
  std::map<model::DeviceId, Disk> disks_;
};

/// Returns the payload of a write, or the beginning used for its description. `bytes_at` is the
/// payload's position in the recording.
Result<std::vector<std::byte>> described_bytes(const record::RecordingReader& reader,
                                               std::uint64_t bytes_at, std::uint32_t sectors);

}  // namespace headcrash::explorer
