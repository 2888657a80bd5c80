#pragma once
// Ioctls on the root directory, without an argument, for requests that the kernel does not send to
// FUSE file systems. Measurements that compare FUSE and kernel file systems use them (server.h).

#include <sys/ioctl.h>

namespace headcrash::fuse {

/// Writes everything to the disk before returning.
inline constexpr unsigned kSyncEverything = _IO('h', 1);
/// Writes everything to the disk before returning, and then also empties the cache.
inline constexpr unsigned kDropCaches = _IO('h', 2);

}  // namespace headcrash::fuse
