#pragma once
// The table of functions for libfuse's low-level interface. Each function handles one kind of
// kernel request: on a separate fiber, it calls functions of vfs.h and replies.

#include <cstdint>
#include <functional>

#include "fs-adapters/fuse/fuse_api.h"
#include "fs-adapters/fuse/nodes.h"
#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

/// State shared by all FUSE operations, passed as libfuse's user data.
struct Service {
  Vfs& vfs;
  std::function<std::int64_t()> now_ns;  ///< current time in nanoseconds since the epoch
  /// Called when the kernel sends DESTROY. Writes everything to the disk before it returns.
  std::function<void()> unmount;
  bool write_back_cache = false;  ///< the kernel may cache written data
  Nodes nodes;
};

/// Registers the root. Fails if the file system has no root.
VfsResult<void> find_root(Service& service);

fuse_lowlevel_ops operation_table();

}  // namespace headcrash::fuse
