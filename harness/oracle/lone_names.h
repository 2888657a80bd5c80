#pragma once
// Finds lone names. A lone name can be judged independently of all other names, because no other
// name affects the object that is found under the lone name.
//
// Under a lone name, a file or symbolic link is created once. This object is never linked, renamed
// or replaced, but may be removed. All directories above it are created once, and are never moved
// or removed. The token of such a name therefore has no other name, and no other object ever had
// its path. The judgement depends only on the horizon and on the object that is found under the
// name, unless another name refers to the same inode.

#include <string>
#include <unordered_map>

#include "harness/oracle/history.h"

namespace headcrash::oracle {

using LoneNames = std::unordered_map<std::string, LoneName>;  ///< by path

/// Numbers the lone names of the history, starting at 0, and stores these numbers in the history's
/// slots and tokens.
LoneNames mark_lone_names(WorkloadHistory& history);

}  // namespace headcrash::oracle
