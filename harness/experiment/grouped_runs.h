#pragma once
// Runs on two threads, of which some begin with the same thing that takes long to make.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace headcrash::experiment {

/// Calls `run` with the number of each of `names`, on two threads at most; equal names are a group. The first of a group is done before any other
/// of that group begins, and can make what all of them need; then a thread goes on with its group, and takes part in the
/// other thread's when no new one is left. False: `interrupted` said so, and some were not called. `run` and `interrupted`
/// are called from both threads.
bool run_grouped(const std::vector<std::string>& names, const std::function<bool()>& interrupted,
                 const std::function<void(std::size_t)>& run);

}  // namespace headcrash::experiment
