#pragma once
// The known facts about a recording's disks: the layout of the file system, and what each write
// changed. read() reads all writes once; afterwards each write can be described.

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
  /// Reads the writes to `devices`, or as much of each as its description needs. `type` is the file
  /// system type as for mount(2), or empty to detect it from the superblocks. Fails if the
  /// recording cannot be read.
  static Result<KnownDisks> read(const states::RunHistory& run, std::string_view type,
                                 const std::vector<model::DeviceId>& devices);

  /// Returns the facts about the write to `device` that was submitted by this event of the
  /// recording. The result is valid while this object exists. REQUIRES: `device` was passed to
  /// read().
  KnownDisk at(model::DeviceId device, std::uint64_t submitted_event) const;
  /// Returns the file system type of the first device whose type is known; otherwise empty.
  std::string type() const;

 private:
  struct Disk {
    DiskMap map;
    std::optional<ExtHistory> history;
  };
  std::map<model::DeviceId, Disk> disks_;
};

/// Returns the part of a write's payload that its description needs. `bytes_at` is the payload's
/// position in the recording.
Result<std::vector<std::byte>> described_bytes(const record::RecordingReader& reader,
                                               std::uint64_t bytes_at, std::uint32_t sectors);

}  // namespace headcrash::explorer
