#pragma once
// How fast a stack of devices reads and writes a long stream, by simulation: what its title and its media's rate
// promise, and what is left of that behind its bus, its cache and its skews.

#include "plugin/profiles/stack.h"

namespace headcrash::profiles {

/// Bytes a second, in the long run.
struct StreamRates {
  double read = 0;
  double write = 0;  ///< with the write cache as delivered
};

/// Requests of 64 KiB from the first sector on, one at a time; the last quarter of them counts, when caches are
/// full. Takes some milliseconds. Errors: as plan() and build().
Result<StreamRates> stream_rates(const std::shared_ptr<const Stack>& stack);

}  // namespace headcrash::profiles
