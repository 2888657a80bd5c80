#pragma once
// Simulated rates of long sequential streams through a stack of devices, including its bus, its
// caches and its skews.

#include <cstdint>
#include <memory>

#include "plugin/base/result.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {

/// Bytes per second in the long run.
struct StreamRates {
  double read = 0;
  double write = 0;  ///< with the write cache at its factory setting
};

/// Measures sequential requests of `request_sectors` (64 KiB by default) from the first sector on,
/// one at a time. Only the last quarter counts, when caches are full. Takes a few milliseconds.
/// Errors are those of plan() and build().
Result<StreamRates> stream_rates(const std::shared_ptr<const Stack>& stack,
                                 std::uint32_t request_sectors = 128);

}  // namespace headcrash::profiles
