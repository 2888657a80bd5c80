#pragma once
// Helpers for the parts of the paper. They evaluate cells and compare two systems.

#include <algorithm>
#include <string>

#include "harness/papers/judge.h"
#include "harness/papers/soares03/pentium4.h"

namespace headcrash::experiment::soares03 {

/// Returns the sum of a quantity over all measured phases.
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

/// Counts the generations that each cell committed before its users finished, and returns the
/// smallest count. If `phase` is empty, counts the generations of all measured phases.
inline Named generations_in(const std::vector<const Cell*>& cells, std::string_view phase = {}) {
  const auto count = [](const PhaseOutcome& each) { return static_cast<double>(each.generations); };
  Figure fewest;
  for (const Cell* cell : cells) {
    const Figure of_cell = phase.empty() ? sum_of(*cell, count) : cell->of(phase, count);
    if (of_cell) fewest = fewest ? std::min(*fewest, *of_cell) : *of_cell;
  }
  return {"generations committed", fewest};
}

/// Returns how much longer `over` is than `under`, in percent.
inline Figure more_time(const Figure& over, const Figure& under) {
  const Figure times = part_of(over, under, 100);
  return times ? Figure(*times - 100) : std::nullopt;
}

/// Adds elapsed time, processor time and disk time, which help to explain differences between
/// systems.
inline void add_times(ClaimAnswer& answer, const Cell& cell) {
  add_number(answer, cell, cell.setup.name, "elapsed", "s", {}, sum_of(cell, elapsed_of));
  add_number(answer, cell, cell.setup.name, "processor busy until quiet", "s", {},
             sum_of(cell, processor_of));
  add_number(answer, cell, cell.setup.name, "disk busy until quiet", "s", {},
             sum_of(cell, disk_of));
}

}  // namespace headcrash::experiment::soares03
