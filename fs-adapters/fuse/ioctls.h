#pragma once
// What a kernel does not ask a FUSE file system for, as ioctls of its root directory without an
// argument: for who measures ours beside file systems of the kernel (server.h says why).

#include <sys/ioctl.h>

namespace headcrash::fuse {

/// Everything is on the disk when it returns.
inline constexpr unsigned kSyncEverything = _IO('h', 1);
/// And nothing is in the cache.
inline constexpr unsigned kDropCaches = _IO('h', 2);

}  // namespace headcrash::fuse
