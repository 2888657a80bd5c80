#pragma once
// Snapshots of a whole file system: made while it is mounted, kept until they are dropped, and
// mounted read-only or read from the image (system_under_test.h). Beside vfs.h; a file system that
// has them gives this with MountedSystem::snapshots().
//
// Errors are errno's: EINVAL, a name that none may have; EEXIST, there is one of that name; ENOENT,
// there is none; ENOSPC, no room for it, or as many as there can be; EROFS, what is mounted is a
// snapshot itself; ENOTSUP, mounted so that none can be made; EIO. Threads: as the Vfs of the same
// mount.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs-adapters/vfs.h"

namespace headcrash {

struct SnapshotInfo {
  std::string name;
  std::uint64_t generation = 0;   ///< a later one has a higher number
  std::int64_t made_seconds = 0;  ///< since the epoch
};

class Snapshots {
 public:
  virtual ~Snapshots() = default;
  /// Keeps the file system as it is: operations that have returned are in it, those under way are
  /// in it wholly or not at all. On the disk when it returns.
  virtual VfsResult<void> make(std::string_view name) = 0;
  /// In the order in which they were made.
  virtual VfsResult<std::vector<SnapshotInfo>> list() = 0;
  /// What only it needs may be used again when it returns.
  virtual VfsResult<void> drop(std::string_view name) = 0;
};

}  // namespace headcrash
