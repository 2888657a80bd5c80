#pragma once
// Writes through io_uring, using system calls directly because the guest has no liburing.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Writes all of `data`, and returns when the kernel reports completion. Creates a ring for the
/// call. Returns ENOSYS or EPERM if the kernel lacks io_uring or restricts it.
VfsResult<void> write_by_uring(int file, std::uint64_t offset, std::span<const std::byte> data);

}  // namespace headcrash::guest
