#pragma once
// Simulated rates of long sequential streams through a stack of devices. The rates include the
// effects of the stack's buses, caches and skews.

#include <cstdint>
#include <memory>

#include "plugin/base/result.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {

/// Rates in bytes per second, in the steady state.
struct StreamRates {
  double read = 0;
  double write = 0;  ///< rate of writes, with the write cache in its factory setting
};

/// Measures sequential requests of `request_sectors` (64 KiB by default), one at a time, starting
/// at the first sector. Only the last quarter of the requests is measured, because caches are full
/// by then. Takes a few milliseconds. Returns the errors of plan() and build().
Result<StreamRates> stream_rates(const std::shared_ptr<const Stack>& stack,
                                 std::uint32_t request_sectors = 128);

}  // namespace headcrash::profiles
