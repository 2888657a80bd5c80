// Runs a scaled-down version of each part, and tests that its rules detect systems with deliberate
// errors.
#include <gtest/gtest.h>

#include "harness/papers/experiment.h"
#include "harness/papers/soares03/steady_load.h"

namespace headcrash::experiment::soares03 {
namespace {

ExperimentOutcome run(const std::string& part) {
  auto outcome = run_experiment({.name = "soares03/" + part, .scaled = true});
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

/// Returns the verdict on the first rule whose text contains `words`.
Verdict verdict_of(const ExperimentOutcome& outcome, const std::string& words) {
  for (const ClaimAnswer& answer : outcome.answers)
    for (const ClaimRule& rule : answer.rules)
      if (rule.text.find(words) != std::string::npos) return rule.verdict;
  ADD_FAILURE() << "no rule has the text: " << words;
  return Verdict::undecided;
}

TEST(Soares03, RunsToCompletion) {
  for (const char* part :
       {"empty-files", "postmark", "source-tree", "intervals", "short-lives", "stalls"}) {
    const ExperimentOutcome outcome = run(part);
    EXPECT_EQ(outcome.failed(), 0U) << part;
    for (const ClaimAnswer& answer : outcome.answers) {
      EXPECT_FALSE(answer.rules.empty());
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_TRUE(number.remark.empty())
            << answer.id << " " << number.cell << ": " << number.remark;
    }
  }
}

TEST(Soares03, EqualSeedsGiveEqualBytes) {
  EXPECT_EQ(as_text(run("intervals")), as_text(run("intervals")));
  EXPECT_EQ(as_csv(run("dbench")), as_csv(run("dbench")));
}

/// The paper's text and tables contradict each other, so these rules do not hold.
TEST(Soares03, ReportsContradictionsBetweenTextAndTables) {
  const ExperimentOutcome outcome = run("arithmetic");
  EXPECT_EQ(verdict_of(outcome, "at most 4 %"), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(outcome, "cost is largest with one client"), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(outcome, "60 % more time"), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(outcome, "152 % more time"), Verdict::holds);
  EXPECT_EQ(verdict_of(outcome, "gap grows with each increase in clients"), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(outcome, "109 % better"), Verdict::holds);
}

TEST(Soares03, ControlsAreDetectedAndOthersKeepTheirRules) {
  const ExperimentOutcome outcome = run("crash-states");
  for (const char* control : {"kfs: is caught", "one-superblock: is caught",
                              "one-version: is caught", "transactions-split: is caught",
                              "snapshot-reuse: is caught", "snapshot-in-place: is caught"})
    EXPECT_EQ(verdict_of(outcome, control), Verdict::holds) << control;
  for (const char* sound :
       {"snapshots: no state", "intent-log-often: no state", "kept-snapshots: no state"})
    EXPECT_EQ(verdict_of(outcome, sound), Verdict::holds) << sound;
  for (const ClaimAnswer& answer : outcome.answers)
    for (const ClaimNumber& number : answer.numbers)
      EXPECT_EQ(number.ours.has_value(), number.remark.empty()) << answer.id;
}

SteadyOutcome steady(snapfs::Spawn spawn) {
  SteadyLoad load{.users = 4, .files_per_s = 100, .lifetime_s = 5, .file_bytes = 4096};
  load.warm_ns = model::kSecondNs;
  load.measured_ns = 15 * model::kSecondNs;
  return run_steady(
      snapfs_setup("any", {.commit_interval_ns = 5 * model::kSecondNs, .spawn = spawn}), load, 1);
}

/// Tests that the load distinguishes between users who wait until a generation is on the disk and
/// users who continue while it is written.
TEST(SteadyLoad, DetectsUsersWhoWaitForCommits) {
  const SteadyOutcome beside = steady(snapfs::Spawn::concurrent),
                      behind = steady(snapfs::Spawn::barrier_until_committed);
  ASSERT_TRUE(beside.error.empty()) << beside.error;
  ASSERT_TRUE(behind.error.empty()) << behind.error;
  EXPECT_GE(beside.commits, 2);
  EXPECT_GT(beside.during_ms.size(), 5U);
  EXPECT_LT(*quantile_of(beside.during_ms, 1) * 3, *quantile_of(behind.during_ms, 1));
  EXPECT_NEAR(beside.operations / 15, 170, 60);
  EXPECT_GT(beside.held_back_most, 0);
}

TEST(SteadyLoad, ReportsErrors) {
  experiment::Setup setup = setup_of(System::snap);
  setup.machine.size_bytes = 1 << 20;
  SteadyLoad load{.files_per_s = 1000, .lifetime_s = 60, .file_bytes = 1 << 16};
  const SteadyOutcome full = run_steady(setup, load, 1);
  EXPECT_FALSE(full.error.empty());
  EXPECT_FALSE(full.of(full.operations));
}

}  // namespace
}  // namespace headcrash::experiment::soares03
