// Tests an experiment's page: the order of its parts, and whether the page is complete in each of
// its forms.
#include "results/report/experiment/experiment_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/db/claim.h"
#include "results/db/testing/database_fixture.h"
#include "results/report/frame/html.h"
#include "results/report/frame/testing/page_parts.h"

namespace headcrash::report {
namespace {

using db::must;
using experiment::ClaimAnswer;
using experiment::RuleClass;
using ClaimVerdict = experiment::Verdict;

class ExperimentPageTest : public db::ScratchFolder {
 protected:
  static std::int64_t begin_run(db::Database& database) {
    return must(database.begin_run({.kind = "experiment",
                                    .name = "a paper",
                                    .configuration = "a paper",
                                    .digest = "d",
                                    .host_json = "{}",
                                    .versions_json = "{}",
                                    .accelerator = "none"}));
  }
  /// Returns a page with one claim for each element of `units`. A claim has two cells, each with
  /// the paper's number and ours.
  Result<ExperimentPage> page_with(const std::vector<std::string>& units) {
    auto database = must(db::Database::open(file(), db::Database::Access::read_write));
    const auto run = begin_run(database);
    std::vector<ClaimAnswer> answers;
    for (std::size_t i = 0; i < units.size(); ++i) {
      answers.push_back(
          {.id = "C-" + std::to_string(i), .part = "part", .title = "unit " + units[i]});
      for (const char* cell : {"one", "two"})
        answers.back().numbers.push_back({cell, "elapsed", units[i], 12.5, 80.0, std::string()});
    }
    EXPECT_TRUE(database.record_claims(run, answers));
    return experiment_page(database, run);
  }
};

std::size_t plots_in(const std::string& html) {
  std::size_t count = 0;
  for (auto at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1))
    ++count;
  return count;
}

TEST_F(ExperimentPageTest, ShowsNumbersInAnyUnit) {
  std::vector<std::string> units = {"",     "s",    "ms",    "us",        "%",
                                    "1/s",  "MB/s", "bytes", "%.0s",      "100 %%",
                                    "% %d", "\\n",  "\"",    "\xc2\xb5s", "requests a second"};
  for (char c = ' '; c <= '~'; ++c) units.emplace_back(1, c);
  const auto page = page_with(units);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(times(page->html, "<span class=\"meter\">"), 2 * units.size()) << "one bar per number";
  for (const std::string& unit : units) {
    const std::string heading =
        unit.empty() ? ">elapsed</th>" : ">" + escape("elapsed (" + unit + ")") + "</th>";
    EXPECT_NE(page->html.find(heading), std::string::npos) << heading;
  }
}

TEST_F(ExperimentPageTest, BeginsWithRuleCountsAndOmitsMissingCells) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  const ClaimAnswer answer{.id = "C-1",
                           .rules = {{"one", ClaimVerdict::holds},
                                     {"two", ClaimVerdict::does_not_hold},
                                     {"three", ClaimVerdict::undecided},
                                     {"four", ClaimVerdict::vacuous},
                                     {"five", ClaimVerdict::holds, "", RuleClass::ours},
                                     {"six", ClaimVerdict::holds, "", RuleClass::arithmetic}}};
  EXPECT_TRUE(database.record_claims(run, {&answer, 1}));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_NE(
      page->html.find(
          ">1 of 4 checks against the paper hold, 1 does not; undecided, because executions disagree or a number is missing: 1; vacuous, because the mechanism did not act: 1<"),
      std::string::npos)
      << page->html;
  EXPECT_NE(page->html.find("(ours) five"), std::string::npos);
  EXPECT_EQ(page->hold, 1);
}

TEST_F(ExperimentPageTest, DrawsEveryLineOfAPlotWithAnyNumberOfPoints) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  constexpr int kLines = 11, kPoints = 40;
  experiment::Plot plot{.name = "curve", .title = "Many", .x = "x", .y = "y"};
  for (int line = 0; line < kLines; ++line) {
    plot.series.push_back({.name = "line " + std::to_string(line)});
    for (int x = 0; x < kPoints; ++x) plot.series.back().points.emplace_back(x, x * line % 7);
  }
  const ClaimAnswer answer{.id = "C-1", .plots = {plot}};
  ASSERT_TRUE(database.record_claims(run, {&answer, 1}));
  auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  page->html = without_own_script(page->html);
  // If a path element were not closed, the elements after it would be hidden.
  std::size_t open = 0;
  for (auto at = page->html.find("<path"); at != std::string::npos;
       at = page->html.find("<path", at + 1))
    if (page->html.find("/>", at) > page->html.find('<', at + 1)) ++open;
  EXPECT_EQ(open, 0U);
  EXPECT_NE(page->html.find(">no check against the paper<"), std::string::npos);
  EXPECT_EQ(page->html.find(": the paper"), std::string::npos) << "no legend for absent marks";
}

TEST_F(ExperimentPageTest, ShowsColumnsAndMarksOnlyForNumbersOfThePaper) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  const std::vector<ClaimAnswer> answers{
      {.id = "C-1",
       .title = "with",
       .numbers = {{"one", "cost", "", 4.5, 5.0, ""},
                   {"one; varied", "cost", "", std::nullopt, 6.0, ""}}},
      {.id = "C-2",
       .title = "without",
       .numbers = {{"one", "cost", "", std::nullopt, 5.0, ""},
                   {"two", "cost", "", std::nullopt, 6.0, ""}}}};
  ASSERT_TRUE(database.record_claims(run, answers));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (auto at = page->html.find(text); at != std::string::npos;
         at = page->html.find(text, at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(count(">paper</th>"), 1U);
  EXPECT_EQ(count("strokes: the paper"), 1U);
}

TEST_F(ExperimentPageTest, ShowsTablesAndPlotsOfAClaim) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  const auto curve = [](const char* title, const char* x, const char* y, bool logarithmic_x,
                        experiment::Series series) {
    return experiment::Plot{"curve", title, x, y, logarithmic_x, {std::move(series)}};
  };
  const std::vector<ClaimAnswer> answers{
      {.id = "C-1",
       .rules = {{"a rule without a number", ClaimVerdict::holds}},
       .tables = {{"sizes", "Sizes & delays", {"who <b>", "s"}, {{"\"x\"", "1.5"}, {"y", "12"}}},
                  {"again", "Another", {"n"}, {{"7"}}}},
       .plots = {curve("By \"delay\"", "delay (s)", "% of it", true,
                       {"ours", {{1, 1}, {2, 2}, {4, 4}}, false})}},
      {.id = "C-2",
       .plots = {
           curve("Another", "x", "y", false, {"one's \\", {{-1, 1}, {-2, 4}, {-4, 16}}, true})}}};
  ASSERT_TRUE(database.record_claims(run, answers));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->hold, 1);
  EXPECT_EQ(plots_in(page->html), 2U);
  for (const char* text :
       {"<b>C-1</b>", "a rule without a number", "<h3>Sizes &amp; delays</h3>", "who &lt;b&gt;",
        "&quot;x&quot;", ">12<", "<h3>Another</h3>", "delay (s)", ">ours<"})
    EXPECT_NE(page->html.find(text), std::string::npos) << text;
}

TEST_F(ExperimentPageTest, BeginsAComparisonWithItsHeatMap) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  const ClaimAnswer rule{.id = "C-1", .rules = {{"a rule", ClaimVerdict::does_not_hold}}};
  const ClaimAnswer summary{.id = "summary",
                            .tables = {{"heat map, of all",
                                        "Times the best",
                                        {"machine", "workload", "LFS", "Journal"},
                                        {{"one drive", "create", "1.00*", "12.34"},
                                         {"one drive", "copy", "2.50", "1.00*"},
                                         {"array", "copy", "-", "1.01*"}}},
                                       {"beats", "Who beats whom", {"n"}, {{"7"}}}}};
  ASSERT_TRUE(database.record_claims(run, std::vector{rule, summary}));
  const auto page = must(experiment_page(database, run));
  expect_links_lead_somewhere(page.html);
  EXPECT_NE(page.html.find(">0 of 1 checks hold, 1 does not<"), std::string::npos)
      << "without a paper";
  EXPECT_LT(page.html.find("<table class=\"heat\">"),
            page.html.find("<section id=\"scoreboard\">"));
  EXPECT_LT(page.html.find("id=\"costs-and-losses\""),
            page.html.find("<section id=\"scoreboard\">"));
  EXPECT_EQ(times(page.html, "<table class=\"heat\">"), 1U) << "once, not among the claims as well";
  const auto map = all_between(page.html, "<table class=\"heat\">", "</table>").at(0);
  EXPECT_EQ(times(map, "class=\"group\""), 2U) << "one group per machine";
  EXPECT_EQ(times(map, " best\""), 3U) << "a star is a mark";
  EXPECT_NE(map.find("<td class=\"h3\" data-label=\"LFS\">2.50</td>"), std::string::npos) << map;
  EXPECT_NE(map.find("<td class=\"h5\" data-label=\"Journal\">12.3</td>"), std::string::npos)
      << map;
  EXPECT_EQ(times(map, "<td class=\"hnone\""), 1U) << "no shade without a multiple";
}

TEST_F(ExperimentPageTest, ListsFailedClaimsAndRulesFirst) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  const std::vector<ClaimAnswer> answers{
      {.id = "C-0",
       .title = "numbers only",
       .numbers = {{"one", "cost", "", std::nullopt, 5.0, ""}}},
      {.id = "C-1", .rules = {{"all is well", ClaimVerdict::holds}}},
      {.id = "C-2", .rules = {{"not known", ClaimVerdict::undecided}}},
      {.id = "C-3",
       .rules = {{"the good one", ClaimVerdict::holds, "1"},
                 {"the bad one", ClaimVerdict::does_not_hold, "2 < 3"}}}};
  ASSERT_TRUE(database.record_claims(run, answers));
  const auto page = must(experiment_page(database, run));
  expect_links_lead_somewhere(page.html);
  const auto scoreboard = all_between(page.html, "<section id=\"scoreboard\">", "</section>").at(0);
  const auto place = [&](const char* text) { return scoreboard.find(text); };
  EXPECT_LT(place("#claim.C-3"), place("#claim.C-2"));
  EXPECT_LT(place("#claim.C-2"), place("#claim.C-1"));
  EXPECT_LT(place("#claim.C-1"), place("#claim.C-0"));
  EXPECT_LT(place("<li>the bad one</li>"), place("#claim.C-2"))
      << "the scoreboard lists failed rules";
  EXPECT_NE(place("<span class=\"verdict bad\">1 of 2 fail</span>"), std::string::npos);
  EXPECT_NE(place("<span class=\"verdict good\">holds</span>"), std::string::npos);
  // The claim's own section must list all its rules, failed rules first. Each rule must have an ID,
  // so that the scoreboard can link to it.
  EXPECT_LT(page.html.find("<tr class=\"bad\" id=\"rule.C-3/2\">"),
            page.html.find("<tr class=\"good\" id=\"rule.C-3/1\">"));
}

TEST_F(ExperimentPageTest, DrawsNumbersThatDependOnUsersAsOneLinePlot) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  std::vector<ClaimAnswer> answers{{.id = "C-1", .title = "split among users"},
                                   {.id = "C-2", .title = "two points"}};
  for (const char* scheme : {"No Order", "Soft Updates"})
    for (const int users : {1, 2, 8})
      answers[0].numbers.push_back({fmt::format("{}, {}", scheme, users), "throughput", "1/s",
                                    std::nullopt, 1000.0 + users + (scheme[0] == 'S' ? 100 : 0),
                                    ""});
  answers[1].numbers = {{"No Order, 1", "throughput", "1/s", std::nullopt, 2001.0, ""},
                        {"No Order, 2", "throughput", "1/s", std::nullopt, 2002.0, ""}};
  ASSERT_TRUE(database.record_claims(run, answers));
  const auto page = must(experiment_page(database, run));
  EXPECT_EQ(plots_in(page.html), 1U) << "two points are not a line";
  const auto plot = all_between(page.html, "<svg", "</svg>").at(0);
  EXPECT_EQ(times(plot, ">users<"), 1U) << "the label of the axis";
  for (const char* number : {">1001<", ">1108<", ">2002<"})
    EXPECT_EQ(times(page.html, number), 1U) << number;
  EXPECT_EQ(times(page.html, "<span class=\"meter\">"), 2U);
}

}  // namespace
}  // namespace headcrash::report
