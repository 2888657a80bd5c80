// The page as a whole. The golden page (golden/report.html) is rewritten with HEADCRASH_UPDATE_GOLDEN=1;
// with HEADCRASH_SHOW_REPORT=FOLDER a realistic page is left there for a look.
#include "results/report/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "results/db/database_fixture.h"
#include "results/db/statement.h"
#include "results/report/synthetic_run.h"

namespace headcrash::report {
namespace {

using db::must;

class ReportTest : public db::ScratchFolder {
 protected:
  db::Database database() { return must(db::Database::open(file(), db::Database::Access::read_write)); }
  std::string page_of(db::Database& database, std::optional<std::int64_t> run = {}) {
    return db::contents(must(write_report(database, {folder() / "out", run})).page);
  }
};

/// What stands between `from` and `to`, each time.
std::vector<std::string> all_between(const std::string& text, const std::string& from,
                                     const std::string& to) {
  std::vector<std::string> found;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    const auto start = at + from.size();
    found.push_back(text.substr(start, text.find(to, start) - start));
  }
  return found;
}

std::size_t times(const std::string& text, const std::string& what) {
  return all_between(text, what, "").size();
}

/// A plot as what matters of it: its size, colours and texts, and whether it has few shapes or many.
/// Positions depend on fonts.
std::string plots_by_structure(const std::string& html) {
  std::string out;
  std::size_t from = 0;
  for (auto at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", from)) {
    const auto end = html.find("</svg>", at);
    const std::string svg = html.substr(at, end - at);
    out += html.substr(from, at - from) + svg.substr(0, svg.find('\n')) + "\n";
    const auto colours = all_between(svg, "var(", ")");
    for (const auto& colour : std::set<std::string>(colours.begin(), colours.end()))
      out += "colour " + colour + "\n";
    for (const auto& text : all_between(svg, "<text>", "</text>")) out += "text " + text + "\n";
    out += times(svg, "<path") + times(svg, "<circle") > 8 ? "many shapes\n" : "few shapes\n";
    from = end;
  }
  return out + html.substr(from);
}

TEST_F(ReportTest, GoldenPage) {
  auto db = database();
  fill(db, three_cells());
  const auto page = plots_by_structure(page_of(db));
  if (std::getenv("HEADCRASH_UPDATE_GOLDEN") != nullptr) std::ofstream(HEADCRASH_REPORT_GOLDEN) << page;
  const auto golden = db::contents(HEADCRASH_REPORT_GOLDEN);
  if (page != golden) {
    const auto place =
        std::mismatch(page.begin(), page.end(), golden.begin(), golden.end()).first - page.begin();
    FAIL() << "differs from the golden page at byte " << place << ", near: "
           << page.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, place - 80)), 200);
  }
}

TEST_F(ReportTest, CountsWhatWasNotExpectedAndLeavesNoDraft) {
  auto db = database();
  auto shape = three_cells();
  shape.cells[0].verdicts[1] = "silent-loss";
  shape.cells[1].verdicts = {"clean", "clean", "lost-synced-data"};
  const auto run = fill(db, shape);
  const auto result = must(write_report(db, {folder() / "a" / "b", std::nullopt}));
  EXPECT_EQ(result.run, run);
  EXPECT_EQ(result.trials, 13);
  EXPECT_EQ(result.unexpected, 1 + 2);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder() / "a" / "b"), {}), 1);
  const auto page = db::contents(result.page);
  const auto invalid = page.find("This report is invalid"), title = page.find("<h1>");
  ASSERT_NE(invalid, std::string::npos);
  EXPECT_LT(invalid, title) << "a failed control is said first";
}

TEST_F(ReportTest, NeedsNothingFromOutside) {
  auto db = database();
  fill(db, three_cells());
  const auto page = page_of(db);
  for (const char* unwanted : {"http:", "https:", "src=", "<script", "<link", "@import", "url("}) {
    EXPECT_EQ(page.find(unwanted), std::string::npos) << unwanted;
  }
  for (const std::string tag :
       {"section", "details", "table", "figure", "svg", "div", "g", "tr", "td", "span"}) {
    EXPECT_EQ(times(page, "<" + tag + ">") + times(page, "<" + tag + " "), times(page, "</" + tag + ">"))
        << tag;
  }
}

TEST_F(ReportTest, StrangeNamesAreShownAsTheyAre) {
  auto db = database();
  auto shape = three_cells();
  shape.cells[0].filesystem = "<script>alert('x')</script>\"&\\ {_^@} \xff\n\t$d << END_OF_DATA";
  shape.cells[1].device =
      "a device whose name is so long that no margin of any plot could ever hold all of it";
  shape.cells[2].workload = "na\xc3\xafve \xf0\x9f\x92\xbe \x1b[31m";
  fill(db, shape);
  const auto page = page_of(db);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NO_THROW(must(report_summary(db, std::nullopt)).figures.dump());
}

TEST_F(ReportTest, AnEmptyDatabaseAndAMissingRunAreErrors) {
  auto db = database();
  const auto empty = write_report(db, {folder() / "out", std::nullopt});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message().find("no run yet"), std::string::npos) << empty.error().message();
  EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
  fill(db, three_cells());
  const auto missing = report_summary(db, 77);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("no run 77"), std::string::npos) << missing.error().message();
}

TEST_F(ReportTest, RunsWithoutTrialsInterruptedOrWithoutTimings) {
  auto db = database();
  SyntheticShape none;
  none.planned = 15;
  none.finished = false;
  const auto without = page_of(db, fill(db, none));
  EXPECT_NE(without.find("no trial has finished"), std::string::npos);
  EXPECT_NE(without.find("finished trials: 0 of 15"), std::string::npos);

  auto some = three_cells();
  some.cells.resize(2);
  some.cells[1].verdicts.resize(2);
  some.planned = 15;
  some.finished = false;
  EXPECT_NE(page_of(db, fill(db, some)).find("finished trials: 7 of 15"), std::string::npos);

  auto bare = three_cells();
  bare.timings = false;
  const auto untimed = page_of(db, fill(db, bare));
  EXPECT_EQ(untimed.find("<svg"), std::string::npos);
  EXPECT_NE(untimed.find("No requests were sampled."), std::string::npos);
  EXPECT_NE(untimed.find("2 of 2 file systems kept what they promise"), std::string::npos);
}

TEST_F(ReportTest, AReadOnlyDatabaseWillDoAndAFolderThatCannotBeMadeIsSaid) {
  {
    auto db = database();
    fill(db, three_cells());
  }
  auto db = must(db::Database::open(file(), db::Database::Access::read_only));
  EXPECT_TRUE(write_report(db, {folder() / "out", std::nullopt}));
  const auto refused = write_report(db, {file() / "below-a-file", std::nullopt});
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().remedy.empty());
}

TEST_F(ReportTest, TheSummaryHasThePagesFigures) {
  auto db = database();
  const auto run = fill(db, three_cells());
  const auto json = must(report_summary(db, std::nullopt)).figures;
  EXPECT_EQ(json["run"], run);
  EXPECT_EQ(json["trials"], 15);
  EXPECT_EQ(json["unexpected"], 0);
  EXPECT_EQ(json["valid"], true);
  EXPECT_EQ(json["interrupted"], false);
  ASSERT_EQ(json["cells"].size(), 3U);
  EXPECT_EQ(json["cells"][0]["filesystem"], "ext4-nobarrier") << "controls come first";
  EXPECT_EQ(json["cells"][0]["lost"], 4);
  EXPECT_EQ(json["cells"][0]["as_promised"], true);
  EXPECT_EQ(json["trial_verdicts"].size(), 15U);
  EXPECT_EQ(json["recovery"].size(), 9U);
  const auto& replay = json["recovery"][0];
  EXPECT_EQ(replay["phase"], "replay");
  EXPECT_LE(replay["model_ms"]["min"], replay["model_ms"]["median"]);
  EXPECT_LE(replay["model_ms"]["median"], replay["model_ms"]["max"]);
  const auto status = json["answer"].get<std::string>();
  EXPECT_NE(page_of(db).find(status), std::string::npos);
}

TEST_F(ReportTest, TheScatterIsBounded) {
  auto db = database();
  auto shape = three_cells();
  for (auto& cell : shape.cells) cell.verdicts.resize(1);
  shape.requests = 20'000;
  fill(db, shape);
  const auto page = page_of(db);
  EXPECT_LT(page.size(), 1'200'000U);
  const auto points = all_between(page, "same axes; ", " requests");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_GT(std::stoi(points[0]), 10'000);
  EXPECT_LE(std::stoi(points[0]), 20'000);
}

TEST_F(ReportTest, ForALook) {
  const char* where = std::getenv("HEADCRASH_SHOW_REPORT");
  if (where == nullptr) GTEST_SKIP() << "HEADCRASH_SHOW_REPORT is not set";
  auto db = database();
  fill(db, a_real_campaign());
  EXPECT_TRUE(write_report(db, {where, std::nullopt}));
  auto failed = three_cells();
  failed.cells[1].verdicts = {"clean", "clean", "replayed", "lost-synced-data", "clean"};
  failed.finished = false;
  failed.planned = 20;
  fill(db, failed);
  EXPECT_TRUE(write_report(db, {std::filesystem::path(where) / "invalid", std::nullopt}));
}

}  // namespace
}  // namespace headcrash::report
