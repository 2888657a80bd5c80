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

/// Share of the reported free space that one file must be able to use. The rest is for its
/// metadata.
inline constexpr std::uint64_t kUsablePercent = 90;
/// Size of the pieces in which files grow; no multiple of a block.
inline constexpr std::size_t kPieceBytes = 3000;

/// Removes everything below a folder; "" is the root. The folder itself stays.
VfsResult<void> remove_below(Vfs& vfs, const std::string& folder);

/// Appends pieces to a new file until it has `bytes` bytes or the disk is full. Returns its size, 0
/// if there is no room for the file. ENOSPC is no error.
VfsResult<std::uint64_t> write_until_full(Vfs& vfs, const std::string& path, std::uint64_t bytes,
                                          std::size_t piece_bytes = kPieceBytes);

/// Syncs, waits until background work has ended, and syncs again.
VfsResult<void> settle(Vfs& vfs, os::System& machine);

}  // namespace headcrash::adapters
