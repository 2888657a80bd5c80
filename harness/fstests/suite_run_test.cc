// Tests the result file of a test (suite_run.h). scripts/tests/fstests.sh runs a suite in a guest.
#include "harness/fstests/suite_run.h"

#include <gtest/gtest.h>

namespace headcrash::fstests {
namespace {

TEST(ParseResult, ReadsTheVerdictAndTheReason) {
  const SuiteOutcome passed = parse_result("passed\ngeneric/001  3s\n");
  EXPECT_EQ(passed.verdict, SuiteVerdict::passed);
  EXPECT_EQ(passed.reason(), "");
  const SuiteOutcome not_run =
      parse_result("not run\nFSTYP -- ext4\n\ngeneric/002       [not run] needs a disk\n");
  EXPECT_EQ(not_run.verdict, SuiteVerdict::not_run);
  EXPECT_EQ(not_run.reason(), "needs a disk");
  const SuiteOutcome failed = parse_result(
      "failed\nFSTYP -- ext4\ngeneric/003       - output mismatch (see x)\n    --- a\n");
  EXPECT_EQ(failed.verdict, SuiteVerdict::failed);
  EXPECT_EQ(failed.reason(), "- output mismatch (see x)");
}

TEST(ParseResult, AResultWithoutAVerdictIsAFailure) {
  for (const char* text : {"", "\n", "pass", "passed?\nall"})
    EXPECT_EQ(parse_result(text).verdict, SuiteVerdict::failed) << text;
}

}  // namespace
}  // namespace headcrash::fstests
