// Tests the complete page. HEADCRASH_UPDATE_GOLDEN=1 rewrites the golden page (golden/report.html).
// HEADCRASH_SHOW_REPORT=FOLDER saves a realistic page in FOLDER.
#include "results/report/report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"
#include "results/report/campaign/facts.h"
#include "results/report/campaign/testing/synthetic_run.h"
#include "results/report/frame/testing/page_parts.h"

namespace headcrash::report {
namespace {

using db::must;

class ReportTest : public db::ScratchFolder {
 protected:
  db::Database database() {
    return must(db::Database::open(file(), db::Database::Access::read_write));
  }
  std::string page_of(db::Database& database, std::optional<std::int64_t> run = {}) {
    return db::contents(must(write_report(database, {folder() / "out", run})).page);
  }
};

/// Replaces each plot with a summary: its size, colours and texts, and whether it has few or many
/// shapes. Positions are omitted, because they depend on fonts.
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

TEST_F(ReportTest, MatchesTheGoldenPage) {
  auto db = database();
  fill(db, three_cells());
  auto page = plots_by_structure(page_of(db));
  for (const std::string here = folder().string(); page.find(here) != std::string::npos;)
    page.replace(page.find(here), here.size(), "FOLDER");
  if (std::getenv("HEADCRASH_UPDATE_GOLDEN") != nullptr)
    std::ofstream(HEADCRASH_REPORT_GOLDEN) << page;
  const auto golden = db::contents(HEADCRASH_REPORT_GOLDEN);
  if (page != golden) {
    const auto place =
        std::mismatch(page.begin(), page.end(), golden.begin(), golden.end()).first - page.begin();
    FAIL() << "differs from the golden page at byte " << place << ", near: "
           << page.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, place - 80)), 200);
  }
}

TEST_F(ReportTest, CountsUnexpectedTrialsAndLeavesNoTemporaryFile) {
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
  EXPECT_LT(invalid, title) << "a failed control comes first";
}

TEST_F(ReportTest, NeedsNoExternalFiles) {
  auto db = database();
  fill(db, three_cells());
  const auto page = without_own_script(page_of(db));
  for (const char* unwanted : {"http:", "https:", "src=", "<script", "<link", "@import", "url("}) {
    EXPECT_EQ(page.find(unwanted), std::string::npos) << unwanted;
  }
  for (const std::string tag :
       {"section", "details", "table", "figure", "svg", "div", "g", "tr", "td", "span"}) {
    EXPECT_EQ(times(page, "<" + tag + ">") + times(page, "<" + tag + " "),
              times(page, "</" + tag + ">"))
        << tag;
  }
}

TEST_F(ReportTest, EscapesUnusualNames) {
  auto db = database();
  auto shape = three_cells();
  shape.cells[0].filesystem = "<script>alert('x')</script>\"&\\ {_^@} \xff\n\t$d << END_OF_DATA";
  shape.cells[1].device =
      "a device whose name is so long that no margin of any plot could ever hold all of it";
  shape.cells[2].workload = "na\xc3\xafve \xf0\x9f\x92\xbe \x1b[31m";
  fill(db, shape);
  const auto page = without_own_script(page_of(db));
  expect_links_lead_somewhere(page);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NO_THROW(must(report_summary(db, std::nullopt)).figures.dump());
}

TEST_F(ReportTest, RejectsAnEmptyDatabaseAndAMissingRun) {
  auto db = database();
  const auto empty = write_report(db, {folder() / "out", std::nullopt});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message().find("contains no run"), std::string::npos)
      << empty.error().message();
  EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
  fill(db, three_cells());
  const auto missing = report_summary(db, 77);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message().find("no run 77"), std::string::npos)
      << missing.error().message();
}

TEST_F(ReportTest, AcceptsRunsWithoutTrialsEndTimeOrTimings) {
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
  EXPECT_NE(untimed.find("2 of 2 file systems kept their promises"), std::string::npos);
}

TEST_F(ReportTest, AcceptsAReadOnlyDatabaseButRejectsAnUnusableFolder) {
  {
    auto db = database();
    fill(db, three_cells());
  }
  auto db = must(db::Database::open(file(), db::Database::Access::read_only));
  EXPECT_TRUE(write_report(db, {folder() / "out", std::nullopt}));
  const auto refused = write_report(db, {file() / "below-a-file", std::nullopt});
  ASSERT_FALSE(refused);
  EXPECT_FALSE(refused.error().hint.empty());
}

TEST_F(ReportTest, SummaryContainsTheFiguresOfThePage) {
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

TEST_F(ReportTest, LimitsThePointsOfTheScatterPlot) {
  auto db = database();
  auto shape = three_cells();
  for (auto& cell : shape.cells) cell.verdicts.resize(1);
  shape.requests = 20'000;
  fill(db, shape);
  const auto page = page_of(db);
  EXPECT_LT(page.size(), 1'200'000U);
  const auto points = all_between(page, "One trial per file system, ", " requests");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_GT(std::stoi(points[0]), 10'000);
  EXPECT_LE(std::stoi(points[0]), 20'000);
}

TEST_F(ReportTest, EachPartHasALinkTargetAndContentsListEverySection) {
  auto db = database();
  auto shape = a_real_campaign();
  shape.requests = 40;
  fill(db, shape);
  const auto page = page_of(db);
  expect_links_lead_somewhere(page);
  const auto sections = all_between(page, "<section id=\"", "\"");
  ASSERT_GE(sections.size(), 7U);
  const auto contents = all_between(page, "<nav class=\"contents\"", "</nav>");
  ASSERT_EQ(contents.size(), 1U);
  for (const std::string& section : sections)
    EXPECT_NE(contents[0].find("href=\"#" + section + "\""), std::string::npos) << section;
  // Each trial, each cell and each failure must have exactly one ID, so that it can be linked to.
  for (const char* id :
       {"trial.ext4/hp-c2447/small-files/3", "cell.btrfs/sata-ssd-2014/small-files/clean",
        "failure.btrfs/sata-ssd-2014/small-files/1",
        "failure.ext4-nobarrier/hp-c2447/small-files/0"})
    EXPECT_EQ(times(page, fmt::format("id=\"{}\"", id)), 1U) << id;
}

TEST_F(ReportTest, ShowsABrokenPromiseAsACardAndALosingControlAsExpected) {
  auto db = database();
  auto shape = a_real_campaign();
  shape.requests = 40;
  fill(db, shape);
  const auto page = page_of(db);
  EXPECT_EQ(times(page, "<div class=\"card bug\""), 1U) << "btrfs, once";
  EXPECT_LT(page.find("<div class=\"card bug\" id=\"bug.btrfs"), page.find("id=\"wanted\""));
  EXPECT_NE(page.find("trials: 1 of 10"), std::string::npos);
  EXPECT_NE(page.find("Losses of negative controls, as expected: 2"), std::string::npos);
  EXPECT_NE(page.find("<span class=\"verdict good\">as expected</span>"), std::string::npos);
  // The map fills the cells of unexpected losses, and outlines those of losses that controls must
  // show.
  const auto cell = [&](const char* hint) {
    const auto at = page.find(hint);
    return page.substr(page.rfind("<td class=", at), at - page.rfind("<td class=", at));
  };
  EXPECT_NE(cell("title=\"btrfs, sata-ssd-2014").find("hsome"), std::string::npos);
  EXPECT_NE(cell("title=\"ext4-nobarrier, hp-c2447").find("hwant"), std::string::npos);
  EXPECT_NE(cell("title=\"xfs, hp-c2447").find("h0"), std::string::npos);
}

TEST_F(ReportTest, LinksAnExistingCrashPageAndShowsItsCommand) {
  auto db = database();
  auto shape = three_cells();
  shape.cells[0].verdicts[1] = "silent-loss";
  fill(db, shape);
  const std::string name = "crash.ext4-hp-c2447-small-files-1.html";
  const auto before = page_of(db);
  EXPECT_NE(before.find("headcrash replay ext4/hp-c2447/small-files/1 --db "), std::string::npos);
  EXPECT_NE(before.find("--html " + (folder() / "out" / name).string()), std::string::npos);
  EXPECT_EQ(before.find("href=\"" + name), std::string::npos);
  std::ofstream(folder() / "out" / name) << "a page";
  EXPECT_NE(page_of(db).find("href=\"" + name), std::string::npos);
}

TEST_F(ReportTest, ShowsResponseTimesOfFlushesSeparately) {
  auto db = database();
  fill(db, three_cells());
  const auto page = page_of(db);
  EXPECT_NE(page.find("<summary>Reads, writes and flushes separately</summary>"),
            std::string::npos);
  const auto responses = all_between(page, "<details id=\"responses\"", "</table>").at(0);
  EXPECT_EQ(
      times(responses,
            "<td data-label=\"request\">flush</td><td class=\"n\" data-label=\"sampled\">25</td>"
            "<td class=\"n\" data-label=\"mean\">21.0\u00a0ms</td>"),
      3U)
      << responses;
  EXPECT_EQ(responses.find("2.00\u00a0ms"), std::string::npos)
      << "the workload excludes reads of the recovery";
}

TEST_F(ReportTest, ReducesLatenessToOneSentenceIfNoTrialWasLate) {
  auto db = database();
  auto shape = three_cells();
  const auto run = fill(db, shape);
  must(db::execute(
           db.handle(),
           "UPDATE trial SET late = 0; UPDATE phase SET achieved_mean_us = target_mean_us * 1.01")
           .map([] { return true; }));
  const auto fine = page_of(db, run);
  EXPECT_NE(
      fine.find("No trial was late; in no phase did requests take more than 1.0\u00a0% longer"),
      std::string::npos);
  must(db::execute(db.handle(), "UPDATE trial SET late = 1 WHERE id = 2").map([] { return true; }));
  EXPECT_NE(page_of(db, run).find("Late trials: 1 of 15"), std::string::npos);
}

TEST_F(ReportTest, CollapsesCautionsAndShowsTheirNumber) {
  auto db = database();
  auto shape = three_cells();
  shape.cells[0].verdicts[0] = "harness-error";
  fill(db, shape);
  must(db::execute(db.handle(), "UPDATE trial SET late = 1 WHERE id = 2").map([] { return true; }));
  const auto page = page_of(db);
  EXPECT_NE(
      page.find(
          "<details id=\"cautions\" class=\"cautions on-paper\"><summary>2 cautions</summary>"),
      std::string::npos);
  EXPECT_NE(page.find("<li>harness errors: 1 of 15"), std::string::npos);
}

TEST_F(ReportTest, WritesAPageForManualInspection) {
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

/// Writes the report of a run that has one cell. Returns the number of instructions, in thousands,
/// that SQLite's virtual machine executes for this.
std::int64_t work_of(const std::filesystem::path& file, std::size_t trials, int requests) {
  auto db = must(db::Database::open(file, db::Database::Access::read_write));
  must(db::execute(db.handle(), "PRAGMA synchronous = OFF").map([] { return true; }));
  auto shape = three_cells();
  shape.cells.resize(1);
  shape.cells[0].verdicts.assign(trials, "replayed");
  for (std::size_t i = 0; i < trials; i += 10) shape.cells[0].verdicts[i] = "silent-loss";
  shape.requests = requests;
  fill(db, shape);
  std::int64_t thousands = 0;
  const auto count = [](void* counter) { return ++*static_cast<std::int64_t*>(counter), 0; };
  sqlite3_progress_handler(db.handle(), 1000, count, &thousands);
  EXPECT_EQ(must(gather(db, std::nullopt)).trials.size(), trials);
  sqlite3_progress_handler(db.handle(), 0, nullptr, nullptr);
  return thousands;
}

/// Checks that the cost of an additional trial depends neither on the number of earlier trials, nor
/// on how many requests of the trial were sampled. A report of 10 000 trials then takes only
/// seconds.
TEST_F(ReportTest, CostsConstantTimePerTrialWithoutSamples) {
  const auto work = [&](std::size_t trials, int requests) {
    return work_of(folder() / fmt::format("{}-{}.db", trials, requests), trials, requests);
  };
  const std::int64_t first = work(60, 100) - work(30, 100), then = work(120, 100) - work(60, 100),
                     few_requests = work(120, 10) - work(60, 10);
  RecordProperty("thousands_of_instructions", static_cast<int>(then));
  EXPECT_GT(first, 0);
  EXPECT_LT(static_cast<double>(then), 2.5 * static_cast<double>(first))
      << "the second step added twice as many";
  EXPECT_LT(static_cast<double>(then), 1.2 * static_cast<double>(few_requests))
      << "trials with ten times as many requests";
}

/// With HEADCRASH_LARGE_REPORT=TRIALS, measures the time that the report takes for a campaign with
/// that many trials. A tenth of the trials lose data.
TEST_F(ReportTest, MeasuresTheTimeOfALargeCampaign) {
  const char* trials = std::getenv("HEADCRASH_LARGE_REPORT");
  if (trials == nullptr) GTEST_SKIP() << "HEADCRASH_LARGE_REPORT is not set";
  auto db = database();
  must(db::execute(db.handle(), "PRAGMA synchronous = OFF").map([] { return true; }));
  auto shape = a_real_campaign();
  const auto each = static_cast<std::size_t>(std::atoi(trials)) / shape.cells.size() + 1;
  for (SyntheticCell& cell : shape.cells) {
    cell.verdicts.assign(each, "replayed");
    for (std::size_t i = 0; i < each; i += 10) cell.verdicts[i] = "silent-loss";
  }
  fill(db, shape);
  const auto before = std::chrono::steady_clock::now();
  const auto processor_before = std::clock();
  const auto result = must(write_report(db, {folder() / "out", std::nullopt}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  fmt::print("{} trials: {:.2f} s, {:.2f} s of it on the processor; {} bytes of HTML\n",
             result.trials, took.count(),
             static_cast<double>(std::clock() - processor_before) / CLOCKS_PER_SEC,
             std::filesystem::file_size(result.page));
}

}  // namespace
}  // namespace headcrash::report
