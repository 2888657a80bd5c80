#pragma once
// Converts a tree to a list of operations that creates this tree. If a workload contains a `crash`,
// its remaining operations start from the recovered tree, but the oracle can only start from an
// empty one.

#include <span>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Returns a list that creates the tree. The list ends with a freeze, which makes the whole tree
/// persistent. `list` contains the operations that will follow. The result sets only inode fields
/// that `list` also sets somewhere, because other fields are not judged. File numbers and versions
/// are taken from the stamps in the tree.
Result<std::vector<workload::Operation>> list_of_tree(const std::vector<ObservedObject>& tree,
                                                      std::span<const workload::Operation> list);

}  // namespace headcrash::oracle
