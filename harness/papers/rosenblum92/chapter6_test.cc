// Runs a scaled-down version of the parts about chapters 4 and 6. Every claim must be answered, and
// the answers must be reproducible.
#include <gtest/gtest.h>

#include "harness/papers/experiment.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

ExperimentOutcome scaled_outcome(const std::string& name) {
  auto outcome = run_experiment({.name = name, .seed = 3, .scaled = true});
  EXPECT_TRUE(outcome) << outcome.error().message();
  return outcome ? *outcome : ExperimentOutcome{};
}

enum class Repeated { yes, no };

void expect_answered(const std::string& part, const std::vector<std::string>& ids,
                     Repeated repeated = Repeated::yes) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/" + part);
  std::vector<std::string> answered;
  for (const ClaimAnswer& answer : outcome.answers) {
    answered.push_back(answer.id);
    EXPECT_FALSE(answer.rules.empty()) << answer.id;
    for (const ClaimNumber& number : answer.numbers)
      EXPECT_TRUE(number.ours) << answer.id << ' ' << number.cell << ' ' << number.quantity << ": "
                               << number.remark;
  }
  EXPECT_EQ(answered, ids);
  if (repeated == Repeated::yes) {
    EXPECT_EQ(as_text(outcome), as_text(scaled_outcome("rosenblum92/" + part)));
  }
}

TEST(Rosenblum92Chapter6, LfsCreatesTwoFilesWithOneWrite) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/two-files");
  ASSERT_EQ(outcome.answers.size(), 1U);
  EXPECT_EQ(outcome.answers[0].numbers[0].ours, Figure(1));
}

TEST(Rosenblum92Chapter6, AnswersTheSmallFileClaims) {
  expect_answered("small-files", {"LFS-22", "LFS-23", "LFS-24", "LFS-25", "LFS-26", "LFS-27"});
}

TEST(Rosenblum92Chapter6, AnswersTheLargeFileClaims) {
  expect_answered("large-file", {"LFS-28", "LFS-29", "LFS-44"});
}

TEST(Rosenblum92Chapter6, AnswersTheRecoveryClaims) {
  expect_answered("recovery", {"LFS-30", "LFS-30", "LFS-31", "LFS-42", "LFS-04"});
}

// This part takes a long time, so the test does not repeat it. Production.EqualSeedsGiveEqualRuns
// repeats a shorter run.
TEST(Rosenblum92Chapter6, AnswersTheProductionClaims) {
  expect_answered("production",
                  {"LFS-33", "LFS-34", "LFS-36", "LFS-37", "LFS-38", "LFS-33, folders",
                   "LFS-34, folders", "LFS-36, folders", "LFS-37, folders", "LFS-38, folders"},
                  Repeated::no);
}

TEST(Rosenblum92Chapter6, SmallArrayWritesReadAndFullStripeWritesDoNot) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/array-writes");
  ASSERT_EQ(outcome.answers.size(), 1U);
  const auto& numbers = outcome.answers[0].numbers;
  EXPECT_EQ(numbers[0].ours, Figure(2));
  EXPECT_EQ(numbers[1].ours, Figure(2));
  EXPECT_EQ(numbers[2].ours, Figure(0));
  EXPECT_EQ(numbers[3].ours, Figure(5));
}

TEST(Rosenblum92Chapter6, LoggedDataIsWrittenTwice) {
  const ExperimentOutcome outcome = scaled_outcome("rosenblum92/logging");
  ASSERT_EQ(outcome.answers.size(), 1U);
  for (const ClaimNumber& number : outcome.answers[0].numbers) {
    if (number.quantity != "bytes written per byte") continue;
    ASSERT_TRUE(number.ours) << number.cell;
    EXPECT_NEAR(*number.ours, number.cell == "a log of data" ? 2 : 1, .15) << number.cell;
  }
}

TEST(Rosenblum92Chapter6, AnswersTheAndrewClaim) {
  expect_answered("andrew", {"LFS-32"});
}

}  // namespace
}  // namespace headcrash::experiment::rosenblum92
