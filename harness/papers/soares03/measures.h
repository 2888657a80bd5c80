#pragma once
// What the parts of the paper ask of a cell, and how they set two systems side by side.

#include <string>

#include "harness/papers/judge.h"
#include "harness/papers/soares03/pentium4.h"

namespace headcrash::experiment::soares03 {

/// Of all measured phases, one after the other.
inline Figure sum_of(const Cell& cell, double (*quantity)(const PhaseOutcome&)) {
  if (!cell.outcome) return std::nullopt;
  double sum = 0;
  for (const PhaseOutcome& phase : cell.outcome->phases)
    sum += phase.measured ? quantity(phase) : 0;
  return sum;
}
inline double elapsed_of(const PhaseOutcome& phase) {
  return phase.longest_s;
}
inline double processor_of(const PhaseOutcome& phase) {
  return phase.cpu_busy_s;
}
inline double disk_of(const PhaseOutcome& phase) {
  return phase.disk_busy_s;
}
inline double writes_of(const PhaseOutcome& phase) {
  return static_cast<double>(phase.issued_writes);
}

/// Time of `over` beyond that of `under`, in percent.
inline Figure more_time(const Figure& over, const Figure& under) {
  const Figure times = part_of(over, under, 100);
  return times ? Figure(*times - 100) : std::nullopt;
}

/// Elapsed, and of it the processor and the disk: without these nobody can say what a difference
/// comes from.
inline void add_times(ClaimAnswer& answer, const Cell& cell) {
  add_number(answer, cell, cell.setup.name, "elapsed", "s", {}, sum_of(cell, elapsed_of));
  add_number(answer, cell, cell.setup.name, "processor busy until quiet", "s", {},
             sum_of(cell, processor_of));
  add_number(answer, cell, cell.setup.name, "disk busy until quiet", "s", {},
             sum_of(cell, disk_of));
}

}  // namespace headcrash::experiment::soares03
