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

}  // namespace
}  // namespace headcrash::campaign
