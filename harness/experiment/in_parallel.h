#pragma once
// Parts of an experiment whose cells have nothing to do with each other, side by side.

#include <cstddef>
#include <functional>

#include "harness/experiment/paper.h"

namespace headcrash::experiment {

/// Calls `run` of each number below `count`, on two threads at most: each has a machine with all its memory. False: it was
/// interrupted, and some were not called.
bool in_parallel(const Context& context, std::size_t count, const std::function<void(std::size_t)>& run);
}  // namespace headcrash::experiment
