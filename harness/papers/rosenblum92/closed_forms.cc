// Evaluates closed forms for comparison with the simulator (closed_forms.h).
#include "harness/papers/rosenblum92/closed_forms.h"

#include <cmath>

#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

constexpr int kSteps = 200;

double apart_cost(const AccessPattern& pattern, double overall_u, double division) {
  // Total space and free space, as multiples of the amount of data.
  const double space = 1 / overall_u, free = space - 1;
  const double hot = pattern.hot_files, cold = 1 - hot;
  const double u_hot = uniform_steady_state(hot / (hot + division * free)),
               u_cold = uniform_steady_state(cold / (cold + (1 - division) * free));
  return pattern.hot_references * write_cost_of(u_hot) +
         (1 - pattern.hot_references) * write_cost_of(u_cold);
}

}  // namespace

double write_cost_of(double u) {
  return u <= 0 ? 1 : 2 / (1 - u);
}

double no_variance_cost(double overall_u) {
  return write_cost_of(overall_u);
}

double reuse_without_copying(double overall_u) {
  return std::exp(-1 / overall_u);
}

double uniform_steady_state(double overall_u) {
  double low = 0, high = 1;
  for (int step = 0; step < kSteps; ++step) {
    const double u = (low + high) / 2;
    const double mean = u <= 0 ? 0 : u >= 1 ? 1 : (1 - u) / -std::log(u);
    (mean < overall_u ? low : high) = u;
  }
  return (low + high) / 2;
}

double hot_cold_apart_division(const AccessPattern& pattern, double overall_u) {
  invariant(pattern.kind == AccessPattern::Kind::hot_and_cold,
            "the access pattern must be hot-and-cold, which has two groups");
  // Bounds for a ternary search, which requires a function with a single minimum.
  double low = 1e-6, high = 1 - 1e-6;
  for (int step = 0; step < kSteps; ++step) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (apart_cost(pattern, overall_u, a) < apart_cost(pattern, overall_u, b))
      high = b;
    else
      low = a;
  }
  return (low + high) / 2;
}

double hot_cold_apart_cost(const AccessPattern& pattern, double overall_u) {
  return apart_cost(pattern, overall_u, hot_cold_apart_division(pattern, overall_u));
}

}  // namespace headcrash::experiment::rosenblum92
