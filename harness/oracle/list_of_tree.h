#pragma once
// A tree as a list of operations that makes it: what was found after a power cut inside of a list
// (`crash`) is where the rest of the list begins, and the oracle follows lists.

#include <span>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Ends with a freeze, after which all of the tree is known to be persistent. Of inodes it sets
/// what `list`, the one that goes on from there, sets somewhere: nothing else of them is judged.
/// Numbers of files and versions are those that the tree's stamps name. lost+found is left out.
/// Errors: a tree that these operations cannot make (blocks that were shared or moved, bytes that
/// nobody wrote, whiteouts, subvolumes, a description that was cut short).
Result<std::vector<workload::Operation>> list_of_tree(const std::vector<ObservedObject>& tree,
                                                      std::span<const workload::Operation> list);

}  // namespace headcrash::oracle
