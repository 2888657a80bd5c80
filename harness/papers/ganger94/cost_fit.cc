// Fits the costs by solving the normal equations (cost_fit.h). Each unknown is a cost divided by
// its estimate.
#include "harness/papers/ganger94/cost_fit.h"

#include <cmath>
#include <utility>

#include "plugin/base/invariant.h"

namespace headcrash::experiment::ganger94 {
namespace {

/// Solves A * x = b for a symmetric, positive semidefinite matrix A. Sets the elements of x that A
/// does not determine to 0.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t unknowns)
      : rows_(unknowns, std::vector<double>(unknowns)), right_(unknowns) {}

  /// Adds an equation: the sum of all unknowns, each multiplied by its factor, is `value`.
  void add(const std::vector<double>& factors, double value) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      right_[i] += factors[i] * value;
      for (std::size_t j = 0; j < factors.size(); ++j) rows_[i][j] += factors[i] * factors[j];
    }
  }

  std::vector<double> solve() && {
    // A pivot below this value is 0 except for rounding errors. All other pivots are much larger,
    // because the coefficients of the equations are about 1 or more.
    constexpr double kNothing = 1e-9;
    const std::size_t count = right_.size();
    std::vector<double> x(count);
    for (std::size_t at = 0; at < count; ++at) {
      if (rows_[at][at] < kNothing) continue;
      for (std::size_t below = at + 1; below < count; ++below) subtract(at, below);
    }
    for (std::size_t at = count; at-- > 0;) {
      if (rows_[at][at] < kNothing) continue;
      double left = right_[at];
      for (std::size_t known = at + 1; known < count; ++known) left -= rows_[at][known] * x[known];
      x[at] = left / rows_[at][at];
    }
    return x;
  }

 private:
  void subtract(std::size_t at, std::size_t below) {
    const double times = rows_[below][at] / rows_[at][at];
    for (std::size_t i = at; i < right_.size(); ++i) rows_[below][i] -= times * rows_[at][i];
    right_[below] -= times * right_[at];
  }

  std::vector<std::vector<double>> rows_;
  std::vector<double> right_;
};

}  // namespace

std::vector<double> fit_costs(std::span<const PrintedTime> times, std::span<const FittedCost> costs,
                              const FitSpread& spread) {
  // The unknowns are the relative differences between the costs and their estimates. An
  // undetermined cost is thus equal to its estimate.
  NormalEquations equations(costs.size());
  for (const PrintedTime& time : times) {
    invariant(time.counts.size() == costs.size(),
              "each printed time must have one count for each cost");
    const double weight = 1 / (spread.time * time.seconds);
    std::vector<double> factors(costs.size());
    double estimated_s = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      factors[i] = weight * time.counts[i] * costs[i].estimate_s;
      estimated_s += time.counts[i] * costs[i].estimate_s;
    }
    equations.add(factors, weight * (time.seconds - estimated_s));
  }
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i].is_known) continue;
    std::vector<double> factors(costs.size());
    factors[i] = 1 / spread.estimate;
    equations.add(factors, 0);
  }
  std::vector<double> fitted = std::move(equations).solve();
  for (std::size_t i = 0; i < costs.size(); ++i) fitted[i] = costs[i].estimate_s * (1 + fitted[i]);
  return fitted;
}

}  // namespace headcrash::experiment::ganger94
