#pragma once
// Derives the costs of single operations from the times of whole benchmarks by a least-squares fit.
//
// A benchmark's CPU time is the sum of costs, each multiplied by its count, and a simulation counts
// exactly. 14 times and 11 correlated costs, with nearly proportional counts, leave some costs
// undetermined or negative. Therefore each estimated cost adds an equation, as in any fit with
// prior knowledge. The fit minimises
//
//   sum over times  ((fitted - printed) / (time_spread * printed))^2
//   sum over costs  ((fitted - estimate) / (estimate_spread * estimate))^2

#include <span>
#include <vector>

namespace headcrash::experiment::ganger94 {

/// One printed time.
struct PrintedTime {
  double seconds = 0;
  std::vector<double> counts;  ///< count of each cost, in the order of the costs
};

struct FittedCost {
  double estimate_s = 0;
  bool is_known = true;  ///< false: the estimate is only a typical value and adds no equation
};

struct FitSpread {
  /// "coefficients of variation less than 0.1" (tables 1 and 2), for a mean of several executions.
  double time = 0.05;
  double estimate = 1;  ///< our choice: an estimate's uncertainty is its size
};

/// Returns each cost in seconds, in the order of `costs`. Each time has as many counts. An
/// undetermined cost keeps its estimate.
std::vector<double> fit_costs(std::span<const PrintedTime> times, std::span<const FittedCost> costs,
                              const FitSpread& spread = {});

}  // namespace headcrash::experiment::ganger94
