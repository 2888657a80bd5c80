#pragma once
// Reads the tree that a shared history has left (harness/oracle/serial_order.h), either from the
// mounted file system or from its image.

#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/oracle/serial_order.h"

namespace headcrash::in_process {

/// Returns all names below the root, sorted. Must be called from a fiber.
VfsResult<std::vector<oracle::SharedObject>> observe_tree(Vfs& vfs);

/// Like observe_tree(), but for an image. The image must have no pending changes.
Result<std::vector<oracle::SharedObject>> observe_image(const adapters::FileSystemType& type,
                                                        const model::SectorStore& store);

/// Compares the tree of a mounted file system with that of its image. Returns a description of the
/// first difference, or an empty string.
std::string difference(const std::vector<oracle::SharedObject>& mounted,
                       const std::vector<oracle::SharedObject>& image);

}  // namespace headcrash::in_process
