#pragma once
// Writes through io_uring. Uses system calls directly, because the guest has no liburing.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Writes all of `data` and waits for the completion. Creates a new ring for each call. Returns
/// ENOSYS if the kernel does not support io_uring, or EPERM if the kernel forbids its use.
VfsResult<void> write_by_uring(int file, std::uint64_t offset, std::span<const std::byte> data);

}  // namespace headcrash::guest
