#pragma once
// How busy the host was with other things: a timed run shares its processors with whatever else
// runs.

#include <cstdint>

namespace headcrash::bench {

/// Clock ticks since the host's start, of all its processors together.
struct HostLoad {
  std::uint64_t all = 0;   ///< idle time included
  std::uint64_t busy = 0;  ///< somebody's, what a hypervisor took away included
  std::uint64_t own = 0;   ///< this process's and its descendants', those that are over included
};

HostLoad host_load();

/// The share of the processors that others used in between, 0 to 1. 0 where /proc tells nothing.
double used_by_others(const HostLoad& before, const HostLoad& after);

}  // namespace headcrash::bench
