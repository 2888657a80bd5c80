#pragma once
// How fast a stack of devices reads and writes a long stream, by simulation: what its title and its
// media's rate promise, and what is left of that behind its bus, its cache and its skews.

#include <cstdint>
#include <memory>

#include "plugin/base/result.h"
#include "plugin/profiles/stack.h"

namespace headcrash::profiles {

/// Bytes a second, in the long run.
struct StreamRates {
  double read = 0;
  double write = 0;  ///< with the write cache as delivered
};

/// Requests of so many sectors (64 KiB unless said) from the first one on, one at a time; the last
/// quarter of them counts, when caches are full. Takes some milliseconds. Errors: as plan() and
/// build().
Result<StreamRates> stream_rates(const std::shared_ptr<const Stack>& stack,
                                 std::uint32_t request_sectors = 128);

}  // namespace headcrash::profiles
