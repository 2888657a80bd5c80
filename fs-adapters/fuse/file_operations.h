#pragma once
// Operations on file contents (operations.h).

#include "fs-adapters/fuse/fuse_api.h"
#include "fs-adapters/vfs.h"

namespace headcrash::fuse {

void add_file_operations(fuse_lowlevel_ops& table);

/// Returns the file handle that the kernel stores for an open file.
inline FileHandle handle_of(const fuse_file_info* info) {
  return FileHandle{static_cast<std::int32_t>(info->fh)};
}

}  // namespace headcrash::fuse
