// Compares closed forms with numbers in the dissertation (closed_forms.h).
#include "harness/papers/rosenblum92/closed_forms.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headcrash::experiment::rosenblum92 {
namespace {

TEST(ClosedForms, WriteCostMatchesEquationOne) {
  EXPECT_DOUBLE_EQ(write_cost_of(0), 1);
  EXPECT_DOUBLE_EQ(write_cost_of(.5), 4);    // "Unix improved"
  EXPECT_NEAR(write_cost_of(.8), 10, 1e-9);  // "Unix today"
  EXPECT_NEAR(write_cost_of(.1), 2.2, .03);
  EXPECT_DOUBLE_EQ(no_variance_cost(.75), 8);
}

TEST(ClosedForms, SegmentsEmptyThemselvesAt15ButNot20PercentUtilization) {
  EXPECT_GT(512 * reuse_without_copying(.2), 1);
  EXPECT_LT(512 * reuse_without_copying(.15), 1);
}

TEST(ClosedForms, TheSteadyStateSolvesItsEquation) {
  for (const double overall : {.1, .3, .5, .75, .9, .99}) {
    const double u = uniform_steady_state(overall);
    EXPECT_NEAR((1 - u) / -std::log(u), overall, 1e-9);
    EXPECT_LT(u, overall);
  }
  EXPECT_NEAR(uniform_steady_state(.75), .546, .001);
}

TEST(ClosedForms, SeparatingHotDataIsCheaperWithAnOptimalDivision) {
  for (const double overall : {.5, .75, .9}) {
    const double best = hot_cold_apart_cost(kHotCold90To10, overall);
    EXPECT_LT(best, write_cost_of(uniform_steady_state(overall)));
    const double division = hot_cold_apart_division(kHotCold90To10, overall);
    EXPECT_GT(division, .2);
    EXPECT_LT(division, .8);
  }
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
