#pragma once
// The content of a stage: the disks that clients see, based on the media of a crash state. The
// disks are either those media (plain_media.h) or an array over them (rebuilt_machine.h).
//
// The classes do no locking; the stage does.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/base/result.h"
#include "plugin/media/written_map.h"
#include "plugin/model/core/device.h"

namespace headcrash::stages {

/// A disk visible to clients.
struct DiskInfo {
  std::string name;
  std::uint64_t sectors = 0;
};

class StageContent {
 public:
  virtual ~StageContent() = default;

  /// Returns at least one disk; the first is the stage's disk.
  virtual const std::vector<DiskInfo>& disk_infos() const = 0;

  /// Performs a request and returns 0 or an errno. Assigns an id to the request if a recording
  /// needs one.
  virtual int serve(std::size_t disk_index, model::Request& request) = 0;
  /// Records that a request completed with `error`. Returns the errno for the client, or 0.
  virtual int acknowledge(std::size_t disk_index, const model::Request& request, int error) = 0;
  virtual void mark(std::string_view text) = 0;
  /// Cleanly shuts down all components with volatile state. The content remains usable.
  virtual void shut_down() = 0;
  /// Returns the host error that makes all later requests fail; nullopt if no such error occurred.
  /// Faults of the disks are not host errors.
  virtual std::optional<std::string> error() const { return std::nullopt; }

  virtual media::WrittenMap::Run written(std::size_t disk_index, std::uint64_t lba,
                                         std::uint64_t limit) = 0;
  virtual std::uint64_t overlay_bytes() const = 0;
  /// Returns the digest of the data visible to clients.
  virtual Result<std::uint64_t> digest() = 0;
};

/// Adds a medium's digest to the combined digest of the preceding media. The digest of a single
/// medium is returned unchanged.
inline std::uint64_t joined_digest(std::uint64_t so_far, std::uint64_t next, bool first) {
  if (first) return next;
  return (so_far ^ (so_far >> 29)) * 0x9e3779b97f4a7c15U + next;
}

}  // namespace headcrash::stages
