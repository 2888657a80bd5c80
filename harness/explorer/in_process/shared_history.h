#pragma once
// The tree that a shared history leaves (harness/oracle/serial_order.h), from the mounted file
// system and from its image.

#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/oracle/serial_order.h"

namespace headcrash::in_process {

/// Must be called from a fiber. Returns all names below the root, sorted.
VfsResult<std::vector<oracle::SharedObject>> observe_tree(Vfs& vfs);

/// Like the above, for an image without pending changes.
Result<std::vector<oracle::SharedObject>> observe_image(const adapters::FileSystemType& type,
                                                        const model::SectorStore& store);

/// Compares the tree of a mounted file system with that of its image. Returns a description of the
/// first difference, or an empty string.
std::string difference(const std::vector<oracle::SharedObject>& mounted,
                       const std::vector<oracle::SharedObject>& image);

}  // namespace headcrash::in_process
