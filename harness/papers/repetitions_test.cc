// Tests that rules are undecided if they hold for only some seeds.
#include "harness/papers/repetitions.h"

#include <gtest/gtest.h>

#include "harness/papers/judge.h"

namespace headcrash::experiment {
namespace {

ClaimAnswer answer_with(double value, double least) {
  ClaimAnswer answer{.id = "C-1", .part = "part", .title = "title"};
  add_row(answer, "one", "time", "s", 1., value);
  add_rule(answer, "at least", {in_unit(value, "s")}, [&] { return value >= least; });
  return answer;
}

TEST(Repetitions, ARuleIsUndecidedIfOneExecutionDisagrees) {
  std::vector<ClaimAnswer> answers{answer_with(2, 2)};
  compare_executions(answers, {{answer_with(2.5, 2)}, {answer_with(1.9, 2)}});
  const ClaimRule& rule = answers[0].rules[0];
  EXPECT_EQ(rule.verdict, Verdict::undecided);
  EXPECT_EQ(rule.executions, 3U);
  EXPECT_NE(rule.detail.find("holds in 2 of 3 executions"), std::string::npos) << rule.detail;
  EXPECT_EQ(answers[0].numbers[0].ours, 2);
  EXPECT_EQ(answers[0].numbers[0].low, 1.9);
  EXPECT_EQ(answers[0].numbers[0].high, 2.5);
}

TEST(Repetitions, AUnanimousRuleKeepsItsVerdict) {
  for (const double least : {2., 20.}) {
    std::vector<ClaimAnswer> answers{answer_with(3, least)};
    compare_executions(answers, {{answer_with(4, least)}, {answer_with(5, least)}});
    EXPECT_EQ(answers[0].rules[0].verdict, least < 3 ? Verdict::holds : Verdict::does_not_hold);
    EXPECT_EQ(answers[0].rules[0].executions, 3U);
  }
}

TEST(Repetitions, AreComparedOnlyWithinAClaim) {
  std::vector<ClaimAnswer> answers{answer_with(3, 2)};
  ClaimAnswer other = answer_with(1, 2);
  other.title = "another interpretation";
  compare_executions(answers, {{other}});
  EXPECT_EQ(answers[0].rules[0].verdict, Verdict::holds);
  EXPECT_EQ(answers[0].rules[0].executions, 1U);
  EXPECT_FALSE(answers[0].numbers[0].low);
}

TEST(Judge, ARuleIsVacuousIfNothingHappened) {
  ClaimAnswer answer = answer_with(3, 2);
  require_action(answer, {"generations committed", 1.});
  EXPECT_EQ(answer.rules[0].verdict, Verdict::holds);
  require_action(answer, {"generations committed", 0.});
  EXPECT_EQ(answer.rules[0].verdict, Verdict::vacuous);
  EXPECT_NE(answer.rules[0].detail.find("generations committed 0"), std::string::npos);
}

TEST(Judge, ARuleWithinThePrecisionIsUndecided) {
  const auto verdict = [](double value) {
    ClaimAnswer answer{.id = "C-1", .part = "part", .title = "title"};
    add_rule_within(answer, "more than 100", {{"", value}}, .04,
                    [&](double times) { return value * times > 100; });
    return answer.rules[0].verdict;
  };
  EXPECT_EQ(verdict(97), Verdict::undecided);
  EXPECT_EQ(verdict(103), Verdict::undecided);
  EXPECT_EQ(verdict(95), Verdict::does_not_hold);
  EXPECT_EQ(verdict(105), Verdict::holds);
}

TEST(Judge, ComparesPercentagesRelativeTo100) {
  EXPECT_TRUE(close_percentage(104.5, 103.5));
  EXPECT_FALSE(close_percentage(98.6, 103.5));
  EXPECT_FALSE(close_percentage(109, 103.5));
  EXPECT_TRUE(close_percentage(180, 187.4));
}

}  // namespace
}  // namespace headcrash::experiment
