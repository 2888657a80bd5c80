#pragma once
// The tree that a shared history leaves (harness/oracle/serial_order.h), from the mounted file
// system and from its image.

#include <vector>

#include "fs-adapters/system_under_test.h"
#include "harness/oracle/serial_order.h"

namespace headcrash::in_process {

/// Must be called from a fiber. Returns all names below the root, sorted.
VfsResult<std::vector<oracle::SharedObject>> observe_tree(Vfs& vfs);

/// Same, for an image that was unmounted.
Result<std::vector<oracle::SharedObject>> observe_tree(const adapters::ImageReader& reader);

/// Compares the image with the tree that the mounted file system has shown. Returns a description
/// of the first difference, or an empty string.
std::string difference_from_image(const std::vector<oracle::SharedObject>& mounted,
                                  const adapters::FileSystemType& type,
                                  const model::SectorStore& store);

}  // namespace headcrash::in_process
