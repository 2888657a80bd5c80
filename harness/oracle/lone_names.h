#pragma once
// Names that can be judged independently, because the object found under such a name does not
// depend on other names.
//
// A file or symbolic link is created under the name once, and is never linked, renamed or replaced
// (it may be removed). All directories above it are created once, and never moved or removed. The
// token of such a name then has no other name, and no other object ever had its path. The judgement
// therefore depends only on the horizon and on the object found under the name, unless another name
// refers to the same inode.

#include <string>
#include <unordered_map>

#include "harness/oracle/history.h"

namespace headcrash::oracle {

using LoneNames = std::unordered_map<std::string, LoneName>;  ///< by path

/// Numbers the lone names of the history from 0, and stores the numbers in the history's slots and
/// tokens.
LoneNames mark_lone_names(WorkloadHistory& history);

}  // namespace headcrash::oracle
