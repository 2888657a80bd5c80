#pragma once
// Whether what was recovered can be used: new names in its directories, and everything removed. A
// log that was replayed wrongly can show the right tree and refuse that: EEXIST for the next new
// inode, ENOTEMPTY for a directory without entries.

#include <string>

#include "fs-adapters/vfs.h"

namespace headcrash::guest {

/// Makes and removes a file and a directory in each of the first directories, then removes
/// everything but lost+found. What was refused, in words; empty: nothing, or a tree that is too
/// large or has what nobody may remove. No room is not a refusal.
std::string use_and_empty(Vfs& vfs);

}  // namespace headcrash::guest
