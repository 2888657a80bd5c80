#pragma once
// Tests whether a recovered file system is usable, by creating new names in its directories and
// removing everything. After a wrong log replay, the tree may look correct, but such operations
// fail: EEXIST for the next new inode, ENOTEMPTY for a directory without entries.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Creates and removes a file and a directory in each of the first few directories, then removes
/// everything except lost+found. Returns a description of the first error. Returns an empty string
/// on success, or if the tree is too large or contains objects that cannot be removed. Ignores
/// ENOSPC.
std::string use_and_empty(Vfs& vfs);

}  // namespace headcrash::guest
