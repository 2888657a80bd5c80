#pragma once
// Compares a benchmark with an earlier run, and determines a verdict for each cell of the two runs.
//
// The runs were not interleaved, so the comparison uses means instead of pairs. Other differences
// between the runs (host, versions) are listed, since they may be the cause.
//
// A cell is a regression if three conditions hold: it became slower by more than the tolerance, the
// whole interval of the ratio is above 1, and the change is still significant after the correction
// for the number of cells (statistics::correct_for_number). Times are measured until quiescence or
// until the last call returned. A workload that fails only in the new run is also a regression.

#include <string>
#include <vector>

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

inline constexpr double kBaselineTolerance = 0.05;

struct CellChange {
  std::string device, setting, scale, phase, filesystem, entrant;
  statistics::Change change = statistics::Change::cannot_tell;
  bool regression = false;
  /// The reason why the result is inconclusive, or the part that failed; otherwise empty.
  std::string reason;
  std::optional<double> before_ms, now_ms;  ///< means of the times that were compared
  bool to_quiescence = true;
  /// Compares the times to quiescence if both runs waited for quiescence; otherwise, compares the
  /// elapsed times.
  statistics::Comparison whole;
  statistics::Comparison elapsed;  ///< comparison of the times until the last call returned
};

struct BaselineComparison {
  std::string database;
  Run run;
  double tolerance = kBaselineTolerance;
  std::vector<CellChange> changes;  ///< one for each cell, in the order of the contests
  /// Other differences between the runs, such as "qemu: 7.2 then, 8.0 now".
  std::vector<std::string> differences;

  std::size_t count(statistics::Change change) const;
  std::size_t regressions() const;
};

BaselineComparison compare_with_baseline(const Benchmark& now, const Benchmark& then,
                                         double tolerance);

std::string change_name(
    statistics::Change change);  ///< "better", "worse", "unchanged", "inconclusive"

}  // namespace headcrash::report
