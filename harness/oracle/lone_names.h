#pragma once
// Names that are judged independently: what one of them shows is independent of all others.
//
// A file or symbolic link is created under the name once, and is never linked, renamed or replaced
// (it may be removed). All directories above it are created once, and never moved or removed. Its
// token then belongs to no other name, and its path to no other object. The judgement follows from
// the horizon and from the object found there, unless another name leads to the same inode.

#include <string>
#include <unordered_map>

#include "harness/oracle/history.h"

namespace headcrash::oracle {

using LoneNames = std::unordered_map<std::string, LoneName>;  ///< by path

/// Numbers the names from 0, also in slots and tokens.
LoneNames mark_lone_names(WorkloadHistory& history);

}  // namespace headcrash::oracle
