#pragma once
// The kernel's requests as calls of vfs.h: a table for libfuse's low-level interface. Every
// function runs on a fiber of its own and answers before it returns.

#include <cstdint>
#include <functional>

#include "fs-adapters/fuse/fuse_api.h"
#include "fs-adapters/fuse/nodes.h"
#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

/// What the functions of the table get as user data.
struct Service {
  Vfs& vfs;
  std::function<std::int64_t()> now_ns;  ///< since the epoch
  std::function<void()> unmount;         ///< on DESTROY; everything is on the disk when it returns
  bool write_back_cache = false;         ///< the kernel may keep what was written
  Nodes nodes;
};

/// Where the root is. An error: there is none.
VfsResult<void> find_root(Service& service);

fuse_lowlevel_ops operation_table();

}  // namespace headcrash::fuse
