#include "harness/oracle/application_verdict.h"

#include <gtest/gtest.h>

namespace headcrash::oracle {
namespace {

TEST(ApplicationVerdict, ConvertsLinesToFindings) {
  const auto none =
      application_findings({.exit_code = 0, .output = "checked 3 rows\n", .errors = ""});
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_TRUE(none->empty());
  const auto some = application_findings(
      {.exit_code = 1, .output = "lost: wal 7\nwrong: delete: 1 in part\n", .errors = ""});
  ASSERT_TRUE(some) << some.error().message();
  ASSERT_EQ(some->size(), 2U);
  EXPECT_EQ(some->at(0).kind, Verdict::lost_synced_data);
  EXPECT_EQ(some->at(0).path, "wal 7");
  EXPECT_EQ(some->at(1).kind, Verdict::wrong_data);
  EXPECT_EQ(judge_trial({}, *some).verdict, Verdict::lost_synced_data);
}

TEST(ApplicationVerdict, RejectsAContradictoryVerifier) {
  for (const VerifierEnd& end :
       {VerifierEnd{.exit_code = 1, .output = "", .errors = ""},
        VerifierEnd{.exit_code = 0, .output = "lost: a"},
        VerifierEnd{.exit_code = 127, .output = "", .errors = "sh: sqlite3: not found\n"},
        VerifierEnd{.exit_code = 137, .output = "lost: a\n", .errors = ""}}) {
    const auto findings = application_findings(end);
    ASSERT_FALSE(findings) << end.exit_code;
    if (!end.errors.empty()) {
      EXPECT_NE(findings.error().message().find("not found"), std::string::npos);
    }
  }
}

TEST(ApplicationVerdict, AnExitCodeAloneIsALossUnlessTheVerifierCannotStart) {
  const auto of = [](int exit_code) {
    return exit_code_findings({.exit_code = exit_code, .output = "a\nb\n", .errors = ""});
  };
  EXPECT_TRUE(of(0).value().empty());
  for (const int lost : {1, 2, 125, 139}) {
    ASSERT_EQ(of(lost).value().size(), 1U) << lost;
    EXPECT_EQ(of(lost)->front().kind, Verdict::lost_synced_data);
    EXPECT_EQ(of(lost)->front().found, "exit code " + std::to_string(lost) + ": b");
  }
  EXPECT_FALSE(of(126));
  EXPECT_FALSE(of(127));
}

TEST(ApplicationVerdict, ReportsPermittedLossesWithoutAFinding) {
  const std::string output = "permitted: commit 7\nchecked\npermitted: commit 8\n";
  const auto none = application_findings({.exit_code = 0, .output = output, .errors = ""});
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(permitted_losses(output), "commit 7; commit 8");
  EXPECT_EQ(permitted_losses("lost: commit 7\n"), "");
  std::string many;
  for (int i = 0; i < 11; ++i) many += "permitted: x\n";
  EXPECT_NE(permitted_losses(many).find("; and 3 more"), std::string::npos)
      << permitted_losses(many);
}

TEST(ApplicationVerdict, SummarisesLongLists) {
  std::string output;
  for (int i = 0; i < 250; ++i) output += "lost: " + std::to_string(i) + "\n";
  const auto findings = application_findings({.exit_code = 1, .output = output, .errors = ""});
  ASSERT_TRUE(findings);
  EXPECT_EQ(findings->size(), kApplicationFindingsMost);
  EXPECT_NE(findings->back().found.find("150 more"), std::string::npos);
}

TEST(ApplicationVerdict, PassesTheTextsOfMarksToTheVerifier) {
  EXPECT_EQ(verifier_input({"phase workload", "persisted wal 1", "persisted delete 1"}),
            "wal 1\ndelete 1\n");
}

}  // namespace
}  // namespace headcrash::oracle
