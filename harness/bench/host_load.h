#pragma once
// Measures other load on the host, which shares its processors with a timed run.

#include <cstdint>

namespace headcrash::bench {

/// Clock ticks of all processors since the host's boot.
struct HostLoad {
  std::uint64_t all = 0;   ///< including idle time
  std::uint64_t busy = 0;  ///< including time taken by a hypervisor
  std::uint64_t own = 0;   ///< of this process and its descendants, including finished ones
};

HostLoad host_load();

/// Returns the share of the processors used by others between two readings, 0 to 1. Returns 0 if
/// /proc provides no data.
double used_by_others(const HostLoad& before, const HostLoad& after);

}  // namespace headcrash::bench
