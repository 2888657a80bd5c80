#pragma once
// What is known of the disks of a recording: where the file system keeps what, and what each write
// made of it. One reading of all writes; after it any of them can be described.

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
  /// `type`: of mount(2); empty: as the superblocks say. Reads each write of `devices`, or its
  /// beginning. Errors: a recording that cannot be read.
  static Result<KnownDisks> read(const states::RunHistory& run, std::string_view type,
                                 const std::vector<model::DeviceId>& devices);

  /// For the write to `device` that was submitted as that event of the recording. Good as long as
  /// this object. REQUIRES: one of read()'s devices.
  KnownDisk at(model::DeviceId device, std::uint64_t submitted_event) const;
  /// Of the first device that has one; else empty.
  std::string type() const;

 private:
  struct Disk {
    DiskMap map;
    std::optional<ExtHistory> history;
  };
  std::map<model::DeviceId, Disk> disks_;
};

/// What a write sent, or its beginning: as much as is described of it. `bytes_at`: of its payload
/// in the recording.
Result<std::vector<std::byte>> described_bytes(const record::RecordingReader& reader,
                                               std::uint64_t bytes_at, std::uint32_t sectors);

}  // namespace headcrash::explorer
