#pragma once
// Names that are judged by themselves: what one of them shows says nothing about what any other may
// show.
//
// A file or symbolic link is made under the name, once, and never linked, renamed or replaced (it
// may be removed); all directories above it are made once, and never moved or removed. Its token
// then belongs to no other name, its path to no other object, and the judgement of the name follows
// from the horizon and from what is seen there, as long as no other name leads to the same inode.

#include <string>
#include <unordered_map>

#include "harness/oracle/history.h"

namespace headcrash::oracle {

using LoneNames = std::unordered_map<std::string, LoneName>;  ///< by path

/// Numbers them from 0 on, in slots and tokens, too.
LoneNames mark_lone_names(WorkloadHistory& history);

}  // namespace headcrash::oracle
