#pragma once
// Runs that have nothing to do with each other, or only begin with the same thing, side by side.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace headcrash::experiment {

/// Empty: never.
using Interrupted = std::function<bool()>;

/// Calls `run` of each number below `count`, on two threads at most: each has a machine with all
/// its memory. False: it was interrupted, and some were not called. `interrupted` is asked from
/// both threads.
bool in_parallel(const Interrupted& interrupted, std::size_t count,
                 const std::function<void(std::size_t)>& run);

/// The same with the number of each of `names`, of which equal ones are a group. The first of a
/// group is done before any other of it begins, and can make what all of them need; then a thread
/// goes on with its group, and takes part in the other thread's when no new one is left.
bool in_parallel(const Interrupted& interrupted, const std::vector<std::string>& names,
                 const std::function<void(std::size_t)>& run);

}  // namespace headcrash::experiment
