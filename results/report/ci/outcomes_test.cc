#include "results/report/ci/outcomes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headcrash::report {
namespace {

using Verdict = CiCase::Verdict;

const std::vector<CiCase> kCases{
    {.group = "check", .name = "ext4", .seconds = 1.5},
    {.group = "check",
     .name = "xfs",
     .verdict = Verdict::failed,
     .message = "after line 2, \"a<b & 50%\"",
     .details = "first\nsecond\x01",
     .seconds = 2,
     .files = {"x/crash.html"},
     .source = "src/a,b.c"},
    {.group = "check", .name = "f|2fs", .verdict = Verdict::error, .message = "no guest"},
    {.group = "check", .name = "btrfs", .verdict = Verdict::skipped, .message = "interrupted"}};

TEST(CiOutcomes, JUnitOutputCountsCasesAndEscapesText) {
  const std::string text = as_junit("mytest", kCases);
  EXPECT_NE(text.find("<testsuites name=\"mytest\">\n  <testsuite name=\"check\" tests=\"4\" "
                      "failures=\"1\" errors=\"1\" skipped=\"1\" time=\"3.500000\">"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<testcase classname=\"check\" name=\"ext4\" time=\"1.500000\"/>"),
            std::string::npos);
  EXPECT_NE(text.find("<failure message=\"after line 2, &quot;a&lt;b &amp; 50%&quot;\">"
                      "first\nsecond\xef\xbf\xbd\nx/crash.html</failure>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<error message=\"no guest\"/>"), std::string::npos);
  EXPECT_NE(text.find("<skipped message=\"interrupted\"/>"), std::string::npos);
}

TEST(CiOutcomes, SarifOutputListsTheFailures) {
  const auto sarif = nlohmann::json::parse(as_sarif(kCases, "1.2"));
  EXPECT_EQ(sarif["version"], "2.1.0");
  const auto& run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2");
  ASSERT_EQ(run["results"].size(), 2U);
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "src/a,b.c");
  EXPECT_EQ(run["results"][1]["ruleId"], "laboratory-error");
  EXPECT_FALSE(run["results"][1].contains("locations"));
  for (const auto& result : run["results"]) {
    const auto& rules = run["tool"]["driver"]["rules"];
    EXPECT_TRUE(std::ranges::any_of(
        rules, [&](const auto& rule) { return rule["id"] == result["ruleId"]; }));
  }
}

TEST(CiOutcomes, AnnotationsEscapeTheirDelimiters) {
  EXPECT_EQ(as_annotations(kCases),
            "::error file=src/a%2Cb.c,line=1,title=check xfs::after line 2, \"a<b & 50%25\"%0A"
            "first%0Asecond\x01%0Ax/crash.html\n"
            "::error title=check f|2fs::no guest\n");
}

TEST(CiOutcomes, MarkdownOutputHasOneRowPerCase) {
  const std::string text = as_markdown("mytest", kCases);
  EXPECT_NE(text.find("1 passed, 1 failed, 1 without a verdict, 1 skipped"), std::string::npos);
  EXPECT_NE(text.find("| check f\\|2fs | error | 0.0 | no guest |\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace headcrash::report
