#pragma once
// Converts a tree to a list of operations that creates it. After a power cut inside a list
// (`crash`), the rest of the list starts from the recovered tree. The oracle follows only lists, so
// the tree is converted to one.

#include <span>
#include <vector>

#include "harness/oracle/observed_tree.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"

namespace headcrash::oracle {

/// Returns a list that creates the tree and ends with a freeze, after which the whole tree is
/// persistent. `list` is the continuation. The result sets only inode fields that `list` also sets
/// somewhere, because no other fields are judged. File numbers and versions come from the stamps in
/// the tree.
Result<std::vector<workload::Operation>> list_of_tree(const std::vector<ObservedObject>& tree,
                                                      std::span<const workload::Operation> list);

}  // namespace headcrash::oracle
