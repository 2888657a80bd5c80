// The page of an experiment, above all that every unit of its numbers can stand at an axis.
#include "results/report/experiment_page.h"

#include <gtest/gtest.h>

#include "results/db/database_fixture.h"

namespace headcrash::report {
namespace {

using db::must;

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
  /// The page of one claim a unit: two cells, the paper's number beside ours.
  Result<ExperimentPage> page_with(const std::vector<std::string>& units) {
    auto database = must(db::Database::open(file(), db::Database::Access::read_write));
    const auto run = begin_run(database);
    std::vector<db::ClaimNumberRecord> numbers;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::string claim = "C-" + std::to_string(i);
      for (const char* cell : {"one", "two"})
        numbers.push_back(
            {claim, "part", "unit " + units[i], cell, "elapsed", units[i], 12.5, 80.0, std::string()});
    }
    EXPECT_TRUE(database.record_claims(run, {.numbers = numbers, .rules = {}}));
    return experiment_page(database, run);
  }
};

std::size_t plots_in(const std::string& html) {
  std::size_t count = 0;
  for (auto at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) ++count;
  return count;
}

TEST_F(ExperimentPageTest, AUnitStandsAtTheAxisWhateverItIsMadeOf) {
  std::vector<std::string> units = {"",     "s",    "ms",    "us",        "%",
                                    "1/s",  "MB/s", "bytes", "%.0s",      "100 %%",
                                    "% %d", "\\n",  "\"",    "\xc2\xb5s", "requests a second"};
  for (char c = ' '; c <= '~'; ++c) units.emplace_back(1, c);
  const auto page = page_with(units);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(plots_in(page->html), units.size());
  for (const char* at_axis : {">20 s<", ">20 %<", ">20 100 %%<", ">20 %.0s<"})
    EXPECT_NE(page->html.find(at_axis), std::string::npos) << at_axis;
}

TEST_F(ExperimentPageTest, BeginsWithTheCountOfRulesAndNamesNoCellsWhereThereAreNone) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  EXPECT_TRUE(database.record_claims(run, {.numbers = {},
                                           .rules = {{"C-1", "one", "holds", ""},
                                                     {"C-1", "two", "does not hold", ""},
                                                     {"C-1", "three", "undecided", ""}}}));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_NE(
      page->html.find(">rules that hold: 1 of 3; that do not: 1; undecided, a cell is missing or failed: 1<"),
      std::string::npos)
      << page->html;
}

TEST_F(ExperimentPageTest, EveryLineOfAPlotIsThereHoweverManyPointsItHas) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  db::ClaimRecords records;
  constexpr int kLines = 11, kPoints = 40;
  for (int line = 0; line < kLines; ++line) {
    for (int x = 0; x < kPoints; ++x)
      records.points.push_back({"C-1", "curve", "Many", "x", "y", false, "line " + std::to_string(line),
                                false, static_cast<double>(x), static_cast<double>(x * line % 7)});
  }
  ASSERT_TRUE(database.record_claims(run, records));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  // A path that is not closed swallows what follows it.
  std::size_t open = 0;
  for (auto at = page->html.find("<path"); at != std::string::npos; at = page->html.find("<path", at + 1))
    if (page->html.find("/>", at) > page->html.find('<', at + 1)) ++open;
  EXPECT_EQ(open, 0U);
  EXPECT_NE(page->html.find(">no rule is judged<"), std::string::npos);
  EXPECT_EQ(page->html.find("the paper"), std::string::npos);
}

TEST_F(ExperimentPageTest, ThePaperHasColumnsAndStrokesWhereItHasNumbers) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  db::ClaimRecords records;
  records.numbers = {{"C-1", "part", "with", "one", "cost", "", 4.5, 5.0, ""},
                     {"C-1", "part", "with", "one; varied", "cost", "", std::nullopt, 6.0, ""},
                     {"C-2", "part", "without", "one", "cost", "", std::nullopt, 5.0, ""},
                     {"C-2", "part", "without", "two", "cost", "", std::nullopt, 6.0, ""}};
  ASSERT_TRUE(database.record_claims(run, records));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (auto at = page->html.find(text); at != std::string::npos; at = page->html.find(text, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count(">paper</th>"), 1U);
  EXPECT_EQ(count("strokes: the paper"), 1U);
}

TEST_F(ExperimentPageTest, TablesAndPlotsOfAClaimAreShown) {
  auto database = must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = begin_run(database);
  db::ClaimRecords records;
  records.rules = {{"C-1", "a rule without a number", "holds", ""}};
  for (std::int64_t line = 0; line < 2; ++line) {
    records.tables.push_back({"C-1", "sizes", "Sizes & delays", line, "who <b>", line == 0 ? "\"x\"" : "y"});
    records.tables.push_back({"C-1", "sizes", "Sizes & delays", line, "s", line == 0 ? "1.5" : "12"});
  }
  records.tables.push_back({"C-1", "again", "Another", 0, "n", "7"});
  for (const double x : {1.0, 2.0, 4.0}) {
    records.points.push_back(
        {"C-1", "curve", "By \"delay\"", "delay (s)", "% of it", true, "ours", false, x, x});
    records.points.push_back({"C-2", "curve", "Another", "x", "y", false, "one's \\", true, -x, x * x});
  }
  ASSERT_TRUE(database.record_claims(run, records));
  const auto page = experiment_page(database, run);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(page->hold, 1);
  EXPECT_EQ(plots_in(page->html), 2U);
  for (const char* text :
       {"<h2>C-1</h2>", "a rule without a number", "<h3>Sizes &amp; delays</h3>", "who &lt;b&gt;",
        "&quot;x&quot;", ">12<", "<h3>Another</h3>", "delay (s)", ">ours<"})
    EXPECT_NE(page->html.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace headcrash::report
