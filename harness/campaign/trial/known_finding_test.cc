#include "harness/campaign/trial/known_finding.h"

#include <gtest/gtest.h>

namespace headcrash::campaign {
namespace {

using oracle::Verdict;

const KnownFinding kResurrected{.verdict = "resurrected", .what = {{"resurrected", "documented"}}};

db::CrashStateRecord state(const std::string& verdict, const std::string& kind = "",
                           bool confirmed = true) {
  db::CrashStateRecord state;
  state.name = "w7-";
  state.verdict = verdict;
  if (!kind.empty()) state.findings.push_back({kind, "documented", "a", "no such name", "a file"});
  state.failure = db::FailureRecord{.confirmed = confirmed};
  return state;
}

Verdict verdict(const KnownFinding& known, std::vector<db::CrashStateRecord> states) {
  db::TrialRecord trial;
  trial.states = std::move(states);
  return find_again(known, trial).judgement.verdict;
}

TEST(KnownFinding, IsConfirmedByAStateThatFailsTwice) {
  db::TrialRecord trial;
  trial.states = {state("clean"), state("lost-synced-data", "lost-synced-data"),
                  state("resurrected", "resurrected"), state("resurrected", "resurrected")};
  const SoughtFinding sought = find_again(kResurrected, trial);
  EXPECT_EQ(sought.judgement.verdict, Verdict::resurrected);
  EXPECT_EQ(sought.judgement.summary, "the recorded finding recurred in 2 of 4 states");
  EXPECT_EQ(sought.state, &trial.states[2]);
}

TEST(KnownFinding, IsFoundEvenIfTheTreeHasAWorseFinding) {
  db::CrashStateRecord both = state("lost-synced-data", "lost-synced-data");
  both.findings.push_back({"resurrected", "documented", "b", "no such name", "a file"});
  EXPECT_EQ(verdict(kResurrected, {both}), Verdict::lost_synced_data);
}

TEST(KnownFinding, DistinguishesKindAndTier) {
  EXPECT_EQ(verdict(kResurrected, {state("lost-synced-data", "lost-synced-data")}), Verdict::clean);
  db::CrashStateRecord de_facto = state("resurrected", "resurrected");
  de_facto.findings.front().tier = "de-facto";
  EXPECT_EQ(verdict(kResurrected, {de_facto}), Verdict::clean);
}

TEST(KnownFinding, IsInconclusiveIfSeenOnlyOnce) {
  EXPECT_EQ(verdict(kResurrected, {state("resurrected", "resurrected", false), state("clean")}),
            Verdict::harness_error);
}

TEST(KnownFinding, IsInconclusiveIfATreeCouldNotBeRead) {
  EXPECT_EQ(verdict(kResurrected, {state("clean"), state("unmountable")}), Verdict::harness_error);
  EXPECT_EQ(verdict(kResurrected, {state("clean"), state("hang")}), Verdict::harness_error);
  EXPECT_EQ(verdict(kResurrected, {state("clean"), state("clean")}), Verdict::clean);
  EXPECT_EQ(verdict(kResurrected, {}), Verdict::harness_error);
}

TEST(KnownFinding, ComparesVerdictsIfTheTreeWasNotJudged) {
  const KnownFinding unmountable{.verdict = "unmountable"};
  EXPECT_EQ(verdict(unmountable, {state("clean"), state("unmountable")}), Verdict::unmountable);
  EXPECT_EQ(verdict(unmountable, {state("clean"), state("resurrected", "resurrected")}),
            Verdict::clean);
}

const KnownFailure kEarlyCommit{
    .finding = "md-early-commit", .rule = "preflushed-on-all", .verdicts = {"stale-data"}};
const KnownFailure kPplFlush{
    .finding = "md-ppl-flush", .rule = "flushed-on-all", .verdicts = {"lost-synced-data"}};

/// A trial whose stack broke the rules, and whose states have the verdicts.
db::TrialRecord trial_of(const std::vector<std::string>& rules,
                         const std::vector<std::string>& verdicts) {
  db::TrialRecord trial;
  for (const std::string& rule : rules)
    trial.findings.push_back({"broken-rule", "documented", "hd1", rule, "no flush covers 17"});
  for (const std::string& each : verdicts) trial.states.push_back(state(each));
  return trial;
}

TEST(KnownFailure, ExplainsItsRuleAndTheLossesThatFollow) {
  const std::vector known{kEarlyCommit, kPplFlush};
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all"}, {"clean"})), "md-early-commit");
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all"}, {"replayed", "stale-data"})),
            "md-early-commit");
  EXPECT_EQ(explained_by(known, trial_of({"flushed-on-all", "preflushed-on-all"},
                                         {"lost-synced-data", "stale-data"})),
            "md-early-commit, md-ppl-flush");
  EXPECT_EQ(explained_by(known, trial_of({}, {"clean", "replayed"})), "") << "nothing failed";
}

TEST(KnownFailure, DoesNotHideAnotherRule) {
  const std::vector known{kEarlyCommit};
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all", "mirror-width"}, {"clean"})), "");
  EXPECT_EQ(explained_by(known, trial_of({"flushed-on-all"}, {"clean"})), "");
  EXPECT_EQ(explained_by({}, trial_of({"preflushed-on-all"}, {"clean"})), "");
}

TEST(KnownFailure, DoesNotHideAnotherFailureOfAState) {
  const std::vector known{kEarlyCommit, kPplFlush};
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all"}, {"stale-data", "unmountable"})),
            "");
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all"}, {"harness-error"})), "");
  EXPECT_EQ(explained_by(known, trial_of({"preflushed-on-all"}, {"lost-synced-data"})), "")
      << "the rule of md-ppl-flush was not broken";
  EXPECT_EQ(explained_by(known, trial_of({}, {"stale-data"})), "") << "no rule was broken";
}

}  // namespace
}  // namespace headcrash::campaign
