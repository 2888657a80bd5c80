#pragma once
// One write by io_uring, asked for by the system calls themselves: no library of it is in the
// guest.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Writes all of `data`, and returns when the kernel says that it is complete. The ring is made for
/// it and goes again. ENOSYS, EPERM: a kernel without io_uring, or one that keeps it to itself.
VfsResult<void> write_by_uring(int file, std::uint64_t offset, std::span<const std::byte> data);

}  // namespace headcrash::guest
