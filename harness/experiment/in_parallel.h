#pragma once
// Runs that have nothing to do with each other, or only begin with the same thing, side by side.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/experiment/paper.h"

namespace headcrash::experiment {

/// Calls `run` of each number below `count`, on two threads at most: each has a machine with all its memory. False: it was
/// interrupted, and some were not called. The context is asked from both threads.
bool in_parallel(const Context& context, std::size_t count, const std::function<void(std::size_t)>& run);

/// The same with the number of each of `names`, of which equal ones are a group. The first of a group is done before any
/// other of it begins, and can make what all of them need; then a thread goes on with its group, and takes part in the
/// other thread's when no new one is left.
bool in_parallel(const Context& context, const std::vector<std::string>& names,
                 const std::function<void(std::size_t)>& run);

}  // namespace headcrash::experiment
