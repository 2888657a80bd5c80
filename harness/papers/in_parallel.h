#pragma once
// Executes independent runs, or groups of runs that share their initial work, in parallel.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace headcrash::experiment {

/// Returns true if the runs should stop. The function may be empty if the runs cannot be
/// interrupted.
using Interrupted = std::function<bool()>;

/// Calls `run` with each number below `count`. Uses at most two threads, because each run may need
/// the memory of a whole machine. Returns false if the runs were interrupted, in which case some
/// numbers are skipped. Both threads call `interrupted`.
bool in_parallel(const Interrupted& interrupted, std::size_t count,
                 const std::function<void(std::size_t)>& run);

/// Calls `run` with the index of each element of `names`. Elements with the same name form a group.
/// The first run of a group ends before any other run of the group starts, so the first run can
/// prepare data for the others. A thread continues with its group as long as the group has runs to
/// start, and then takes a new group. If no new group is left, the thread starts runs of another
/// thread's group.
bool in_parallel(const Interrupted& interrupted, const std::vector<std::string>& names,
                 const std::function<void(std::size_t)>& run);

}  // namespace headcrash::experiment
