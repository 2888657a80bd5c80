#pragma once
// Executes independent runs, or runs with a common start, in parallel.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace headcrash::experiment {

/// Empty if it cannot be interrupted.
using Interrupted = std::function<bool()>;

/// Calls `run` with each number below `count`, on at most two threads, because each run needs all
/// the memory of a machine. Returns false if interrupted, with some numbers skipped. Both threads
/// call `interrupted`.
bool in_parallel(const Interrupted& interrupted, std::size_t count,
                 const std::function<void(std::size_t)>& run);

/// Does the same with the index of each of `names`; equal names form a group. The first of a group
/// ends before any other of it starts, so it can prepare shared data. A thread then continues with
/// its group, and helps the other thread when no new group is left.
bool in_parallel(const Interrupted& interrupted, const std::vector<std::string>& names,
                 const std::function<void(std::size_t)>& run);

}  // namespace headcrash::experiment
