#pragma once
// The part of the table that is about what is in files (operations.h).

#include "fs-adapters/fuse/fuse_api.h"
#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

void add_file_operations(fuse_lowlevel_ops& table);

/// The handle of an open file, as the kernel keeps it for us.
inline FileHandle handle_of(const fuse_file_info* info) {
  return FileHandle{static_cast<std::int32_t>(info->fh)};
}

}  // namespace headcrash::fuse
