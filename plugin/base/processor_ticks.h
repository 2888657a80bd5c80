#pragma once
// The counter of clock ticks in the processor. A guest of user-mode Linux runs on the host's
// processor, so its programs can read the counter and thus measure the host's time, while the
// guest's clock stands still.

#include <chrono>
#include <cstdint>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace headcrash::base {

/// Returns the counter's value, without a system call. Returns 0 if the processor has none.
inline std::uint64_t processor_ticks() {
#ifdef __x86_64__
  return __rdtsc();
#else
  return 0;
#endif
}

struct TickCount {
  std::uint64_t ticks = processor_ticks();
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
};
inline const TickCount kTicksAtStart;  ///< at the start of the program

/// Returns the number of ticks per millisecond, measured since the start of the program. Returns 0
/// if the processor has no counter, or if the program has just begun. Not for a guest in virtual
/// time.
inline double processor_ticks_per_ms() {
  const TickCount now;
  const std::chrono::duration<double, std::milli> passed = now.at - kTicksAtStart.at;
  constexpr double kShortestMs = 10;
  if (passed.count() < kShortestMs) return 0;
  return static_cast<double>(now.ticks - kTicksAtStart.ticks) / passed.count();
}

}  // namespace headcrash::base
