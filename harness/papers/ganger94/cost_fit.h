#pragma once
// Derives the costs of single operations from the times of whole benchmarks by a least-squares fit.
//
// A benchmark's CPU time is the sum of all costs, each multiplied by its count, and a simulation
// provides exact counts. There are only 14 times for 11 costs, and many counts are nearly
// proportional to each other, so some costs would be undetermined or negative. Therefore the
// estimate of each cost adds an equation, as in any fit with prior knowledge. The fit minimises the
// sum of
//
//   sum over times  ((fitted - printed) / (time_spread * printed))^2
//   sum over costs  ((fitted - estimate) / (estimate_spread * estimate))^2

#include <span>
#include <vector>

namespace headcrash::experiment::ganger94 {

struct PrintedTime {
  double seconds = 0;
  std::vector<double> counts;  ///< number of operations of each kind, in the order of the costs
};

struct FittedCost {
  double estimate_s = 0;
  /// If false, the fit uses `estimate_s` only if the paper's times do not determine this cost.
  bool is_known = true;
};

struct FitSpread {
  /// Relative error assumed for the times in the paper. The paper reports "coefficients of
  /// variation less than 0.1" (tables 1 and 2) for single executions. Its times are means over
  /// several executions, so their error is smaller.
  double time = 0.05;
  /// Our choice: a cost may differ from its estimate by as much as the estimate.
  double estimate = 1;
};

/// Returns each cost in seconds, in the order of `costs`. Each time must have one count per cost.
/// An undetermined cost is equal to its estimate.
std::vector<double> fit_costs(std::span<const PrintedTime> times, std::span<const FittedCost> costs,
                              const FitSpread& spread = {});

}  // namespace headcrash::experiment::ganger94
