#pragma once
// Measures how much of the host's processor time other processes use during a timed run.

#include <cstdint>

namespace headcrash::bench {

/// Clock ticks of all processors since the host booted.
struct HostLoad {
  std::uint64_t all = 0;   ///< including idle time
  std::uint64_t busy = 0;  ///< including time taken by a hypervisor
  /// Clock ticks of processor time used by this process and its descendants, including descendants
  /// that have exited.
  std::uint64_t own = 0;
};

HostLoad host_load();

/// Returns the fraction of processor time, 0 to 1, that other processes used between two readings.
/// Returns 0 if /proc provides no data.
double used_by_others(const HostLoad& before, const HostLoad& after);

}  // namespace headcrash::bench
