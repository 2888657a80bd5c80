// Runs a scaled-down version of the parts about chapter 5. Every claim must be answered, and the
// answers must be reproducible.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/papers/experiment.h"

namespace headcrash::experiment {
namespace {

ExperimentOutcome scaled_outcome(const std::string& name) {
  auto outcome = run_experiment({.name = name, .seed = 3, .scaled = true});
  EXPECT_TRUE(outcome) << outcome.error().message();
  return outcome ? *outcome : ExperimentOutcome{};
}

std::vector<std::string> claims_of(const ExperimentOutcome& outcome) {
  std::vector<std::string> ids;
  for (const ClaimAnswer& answer : outcome.answers) ids.push_back(answer.id);
  return ids;
}

TEST(Rosenblum92, TheSimulatorAnswersEveryClaimOfChapter5) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/simulator");
  EXPECT_EQ(claims_of(outcome),
            (std::vector<std::string>{"LFS-11", "LFS-12", "LFS-13", "LFS-14", "LFS-15", "LFS-16",
                                      "LFS-17", "LFS-18", "LFS-19", "LFS-20"}));
  EXPECT_EQ(outcome.count(Verdict::undecided), 0U);
  for (const ClaimAnswer& answer : outcome.answers) {
    EXPECT_FALSE(answer.rules.empty()) << answer.id;
    for (const ClaimNumber& number : answer.numbers)
      EXPECT_TRUE(number.ours) << answer.id << ' ' << number.cell;
  }
  EXPECT_EQ(as_text(outcome), as_text(scaled_outcome("rosenblum92/simulator")));
}

TEST(Rosenblum92, AnswersClaimsThatNeedOnlyArithmetic) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/arithmetic");
  EXPECT_EQ(claims_of(outcome),
            (std::vector<std::string>{"LFS-05", "LFS-08", "LFS-21", "LFS-35", "LFS-41"}));
  // The paper's own numbers contradict three rules: one about the rows of table 6-3, one about the
  // range of costs in this table, and one about the example in section 3.1.1.
  EXPECT_EQ(outcome.count(Verdict::does_not_hold), 3U);
}

TEST(Rosenblum92, EachVariantHasARow) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/beyond");
  ASSERT_EQ(outcome.answers.size(), 3U);
  for (const ClaimAnswer& answer : outcome.answers) {
    ASSERT_EQ(answer.tables.size(), 2U) << answer.id;
    EXPECT_GE(answer.tables[0].rows.size(), 15U) << answer.id;
    for (const Table& table : answer.tables) {
      for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << answer.id;
    }
  }
}

}  // namespace
}  // namespace headcrash::experiment
