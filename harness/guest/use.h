#pragma once
// Tests whether a recovered file system can be used, by creating new names in its directories and
// then removing everything. After a wrong replay of the log, the tree may look correct, but such
// operations fail, for example with EEXIST for the next new inode, or with ENOTEMPTY for a
// directory without entries.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Creates and removes a file and a directory in each of the first few directories, then removes
/// everything except lost+found. Returns a description of the first error, or an empty string if
/// there was no error. Also returns an empty string if the tree is too large or contains objects
/// that cannot be removed. Ignores ENOSPC.
std::string use_and_empty(Vfs& vfs);

}  // namespace headcrash::guest
