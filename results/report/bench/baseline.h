#pragma once
// Comparison with another run: a verdict for each cell of both runs.
//
// The runs were not interleaved, so the comparison uses means instead of pairs. Other differences
// between the runs (host, versions) are listed, since they may be the cause.
//
// A cell that became slower by more than the tolerance is a regression if the whole interval is on
// that side. Its time is measured to quiescence or until the last call returned. It must stay
// significant after the correction for the number of cells (statistics::correct_for_number). A
// workload that fails only in the new run is a regression, too.

#include <string>
#include <vector>

#include "results/report/bench/bench_facts.h"

namespace headcrash::report {

inline constexpr double kBaselineTolerance = 0.05;

struct CellChange {
  std::string device, setting, scale, phase, filesystem, entrant;
  statistics::Change change = statistics::Change::cannot_tell;
  bool regression = false;
  std::string reason;  ///< why it is inconclusive, or the failed part; empty: nothing to report
  std::optional<double> before_ms, now_ms;  ///< means of the compared times
  bool to_quiescence = true;
  statistics::Comparison whole;    ///< to quiescence if both runs waited for it, else elapsed
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
