#pragma once
// What changed since another run: a verdict for each cell that both have.
//
// The runs were not interleaved, so means are compared, not pairs, and whatever else differs
// between the two (host, versions) is named rather than blamed on the file system. A regression is
// a cell that became slower by more than the tolerance with the whole interval on that side, to
// quiescence or until the last call returned, and stays so when all cells are corrected for their
// number (statistics::correct_for_number), or a workload that fails now and did not.

#include <string>
#include <vector>

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

inline constexpr double kBaselineTolerance = 0.05;

struct CellChange {
  std::string device, setting, scale, phase, filesystem, entrant;
  statistics::Change change = statistics::Change::cannot_tell;
  bool regression = false;
  std::string reason;  ///< why it is inconclusive, or what failed; empty for nothing to report
  std::optional<double> before_ms, now_ms;  ///< means of what is compared
  bool to_quiescence = true;
  statistics::Comparison whole;    ///< to quiescence where both waited for it, else elapsed
  statistics::Comparison elapsed;  ///< until the last call returned
};

struct BaselineComparison {
  std::string database;
  Run run;
  double tolerance = kBaselineTolerance;
  std::vector<CellChange> changes;       ///< in the order of the contests
  std::vector<std::string> differences;  ///< "qemu: 7.2 then, 8.0 now"

  std::size_t count(statistics::Change change) const;
  std::size_t regressions() const;
};

BaselineComparison compare_with_baseline(const Benchmark& now, const Benchmark& then,
                                         double tolerance);

std::string change_name(
    statistics::Change change);  ///< "better", "worse", "unchanged", "inconclusive"

}  // namespace headcrash::report
