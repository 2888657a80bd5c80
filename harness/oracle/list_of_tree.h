#pragma once
// Converts a tree to a list of operations that creates it. The tree found after a power cut inside
// a list (`crash`) is the starting point of the rest of the list, and the oracle follows lists.

#include <span>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Returns a list that ends with a freeze, after which the whole tree is persistent. It sets those
/// inode values that `list`, its continuation, sets somewhere; no others are judged. Numbers of
/// files and versions come from the tree's stamps. lost+found is omitted. Fails for a tree that
/// these operations cannot create (blocks that were shared or moved, bytes that no operation wrote,
/// whiteouts, subvolumes, a truncated description).
Result<std::vector<workload::Operation>> list_of_tree(const std::vector<ObservedObject>& tree,
                                                      std::span<const workload::Operation> list);

}  // namespace headcrash::oracle
