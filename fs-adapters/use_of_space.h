#pragma once
// Fills and empties mounted file systems, for callers that compare the space that a file system
// reports with the space that can be used. All functions must be called from a fiber, and return
// the first unexpected error.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fs-adapters/substrate/os/system.h"
#include "fs-adapters/vfs.h"

namespace headcrash::adapters {

/// After a file system has been filled and emptied, its grown maps may occupy at most this much of
/// the space that was free when it was new.
inline constexpr std::uint64_t kMapGrowthBytes = 24 << 10;
/// Size of the pieces in which files grow; not a multiple of a block.
inline constexpr std::size_t kPieceBytes = 3000;

/// Removes everything below a directory; "" is the root. The directory itself stays.
VfsResult<void> remove_below(Vfs& vfs, const std::string& folder);

/// Appends pieces to a new file until the file has `bytes` bytes or the disk is full. Returns the
/// file's size, or 0 if there is no room for the file. ENOSPC is not an error.
VfsResult<std::uint64_t> write_until_full(Vfs& vfs, const std::string& path, std::uint64_t bytes,
                                          std::size_t piece_bytes = kPieceBytes);

/// Syncs, waits until background work has ended, and syncs again.
VfsResult<void> settle(Vfs& vfs, os::System& machine);

/// Removes all files, calls settle(), and returns the free space in bytes.
VfsResult<std::uint64_t> free_space_when_empty(Vfs& vfs, os::System& machine);

struct UsedSpace {
  std::uint64_t promised_bytes = 0;  ///< 90 % of the free space; the rest is reserved for metadata
  /// May slightly exceed `promised_bytes`, because the file grows in pieces.
  std::uint64_t written_bytes = 0;
};

/// Writes a new file that takes 90 % of `free_bytes`, removes it, and calls settle().
VfsResult<UsedSpace> use_space(Vfs& vfs, os::System& machine, const std::string& path,
                               std::uint64_t free_bytes);

}  // namespace headcrash::adapters
