#pragma once
// Snapshots of a whole file system. A snapshot is created while the file system is mounted, and is
// kept until it is dropped. It can be mounted read-only, or read from the image
// (system_under_test.h). MountedSystem::snapshots() returns this interface if the file system
// supports it.
//
// Errors are error numbers: EINVAL for an invalid name, EEXIST if the name exists, ENOENT if it
// does not, ENOSPC if there is no space or the maximum number is reached, EROFS if the mount itself
// is a snapshot, ENOTSUP if the mount cannot create snapshots, and EIO. Threads: as for the Vfs of
// the same mount.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash {

struct SnapshotInfo {
  std::string name;
  std::uint64_t generation = 0;   ///< higher for later snapshots
  std::int64_t made_seconds = 0;  ///< creation time, since the epoch
};

class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// Creates a snapshot and returns once the snapshot is on the disk. The snapshot contains all
  /// completed operations. If an operation is in progress, the snapshot contains either all of its
  /// changes or none.
  virtual VfsResult<void> make(std::string_view name) = 0;
  /// Returns the snapshots in creation order.
  virtual VfsResult<std::vector<SnapshotInfo>> list() = 0;
  /// Drops a snapshot. On return, the blocks that only this snapshot contained may be reused.
  virtual VfsResult<void> drop(std::string_view name) = 0;
};

}  // namespace headcrash
