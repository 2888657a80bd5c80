#pragma once
// What single things cost, from what whole benchmarks cost: a least-squares fit.
//
// A benchmark's CPU time is a sum over the costs, each times how often it is paid; a simulation
// counts that exactly. With 14 times and 11 costs that occur together, in numbers that are nearly
// proportional, the times alone leave some costs undetermined, or negative. So each cost that we
// have an estimate of is one more equation, as in any fit with prior knowledge: minimised is
//
//   sum over times  ((fitted - printed) / (time_spread * printed))^2
//   sum over costs  ((fitted - estimate) / (estimate_spread * estimate))^2

#include <span>
#include <vector>

namespace headcrash::experiment::ganger94 {

/// One printed time.
struct PrintedTime {
  double seconds = 0;
  std::vector<double> counts;  ///< how often each cost is paid, in the costs' order
};

struct FittedCost {
  double estimate_s = 0;
  bool is_known =
      true;  ///< false: the estimate only says what is usual, and no equation holds the cost to it
};

struct FitSpread {
  double time =
      0.05;  ///< "coefficients of variation less than 0.1" (tables 1 and 2), of a mean of several executions
  double estimate = 1;  ///< ours: an estimate is as uncertain as it is large
};

/// Seconds each, in the order of `costs`. Each time has as many counts. What nothing determines
/// keeps its estimate.
std::vector<double> fit_costs(std::span<const PrintedTime> times, std::span<const FittedCost> costs,
                              const FitSpread& spread = {});

}  // namespace headcrash::experiment::ganger94
