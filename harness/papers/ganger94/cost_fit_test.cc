// Tests the fit of costs (cost_fit.h).
#include "harness/papers/ganger94/cost_fit.h"

#include <gtest/gtest.h>

#include "harness/papers/ganger94/ncr3433.h"

namespace headcrash::experiment::ganger94 {
namespace {

double modelled_s(const PrintedTime& time, const std::vector<double>& costs) {
  double seconds = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) seconds += time.counts[i] * costs[i];
  return seconds;
}

TEST(CostFit, FindsCostsDeterminedByTheTimes) {
  const std::vector<double> real{0.003, 0.0001, 0.02};
  std::vector<PrintedTime> times;
  for (const std::vector<double>& counts :
       {std::vector<double>{1000, 5, 1}, {10, 40'000, 0}, {200, 300, 400}, {500, 2000, 30}}) {
    times.push_back({.counts = counts});
    times.back().seconds = modelled_s(times.back(), real);
  }
  const std::vector<FittedCost> nothing_known{{0.001, false}, {0.001, false}, {0.001, false}};
  const auto fitted = fit_costs(times, nothing_known);
  for (std::size_t i = 0; i < real.size(); ++i) EXPECT_NEAR(fitted[i] / real[i], 1, 1e-6) << i;
}

/// The two costs always occur equally often, so the times determine only their sum.
TEST(CostFit, EstimatesDecideUndeterminedCosts) {
  const std::vector<PrintedTime> times{{.seconds = 3, .counts = {100, 100}},
                                       {.seconds = 6, .counts = {200, 200}}};
  const auto both = fit_costs(times, std::vector<FittedCost>{{0.01}, {0.01}});
  EXPECT_NEAR(both[0], both[1], 1e-9);
  EXPECT_NEAR(both[0] + both[1], 0.03, 0.001);
  const auto first = fit_costs(times, std::vector<FittedCost>{{0.01}, {0.01, false}});
  EXPECT_NEAR(first[0], 0.01, 1e-6) << "a cost without an estimate takes the rest";
  EXPECT_NEAR(first[1], 0.02, 1e-6);
}

TEST(CostFit, AnUnusedCostKeepsItsEstimate) {
  const std::vector<PrintedTime> times{{.seconds = 5, .counts = {100, 0, 0}}};
  const auto fitted =
      fit_costs(times, std::vector<FittedCost>{{0.01, false}, {0.007}, {0.3, false}});
  EXPECT_NEAR(fitted[0], 0.05, 1e-9);
  EXPECT_EQ(fitted[1], 0.007);
  EXPECT_EQ(fitted[2], 0.3);
}

/// A long time and a short time have the same weight, because the fit minimises relative errors.
TEST(CostFit, MinimisesRelativeErrors) {
  const std::vector<PrintedTime> times{{.seconds = 1, .counts = {100}},
                                       {.seconds = 80, .counts = {10'000}}};
  const auto fitted = fit_costs(times, std::vector<FittedCost>{{0.02, false}});
  // `c` minimizes the sum of the squared relative errors: (100 c - 1)^2 + (10 000 c / 80 - 1)^2.
  EXPECT_NEAR(fitted[0], (100 + 125.0) / (100 * 100 + 125.0 * 125), 1e-9);
}

TEST(CostFit, ChargesNameChangesOnlyOnTheNcr3433) {
  EXPECT_GT(kNcr3433.name_changed, 0);
  EXPECT_EQ(kI486At33Mhz.name_changed, 0)
      << "the other papers' machines are not changed by the fit";
}

}  // namespace
}  // namespace headcrash::experiment::ganger94
