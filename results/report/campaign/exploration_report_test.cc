// Tests the section of the report about explored crash states. HEADCRASH_SHOW_REPORT=FOLDER saves
// the page in FOLDER/explored.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "results/db/testing/database_fixture.h"
#include "results/report/campaign/failure_pages.h"
#include "results/report/frame/html.h"
#include "results/report/frame/query.h"
#include "results/report/frame/testing/page_parts.h"
#include "results/report/report.h"

namespace headcrash::report {
namespace {

using db::must;

class ExplorationReport : public db::ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    database_.emplace(must(db::Database::open(file(), db::Database::Access::read_write)));
    run_ = must(database_->begin_run(db::some_run()));
  }
  void TearDown() override {
    database_.reset();
    ScratchFolder::TearDown();
  }
  struct Shape {
    std::string filesystem, expected, verdict;
    std::optional<std::string> control;
    std::string variant;
  };
  /// Adds a trial with one clean state, and one state with the trial's verdict.
  void add(const Shape& shape) {
    auto trial = db::some_explored_trial(shape.filesystem + "+" + shape.variant +
                                         "/stage/ace-seq1/" + std::to_string(number_++));
    trial.filesystem = shape.filesystem;
    trial.expected = shape.expected;
    trial.control = shape.control;
    trial.variant = shape.variant;
    trial.workload = "ace-seq1";
    trial.clock = "off";
    trial.verdict = trial.states[1].verdict = shape.verdict;
    trial.cut_at_ns.reset();
    if (shape.verdict == "replayed") {
      trial.states[1].failure.reset();
      trial.states[1].findings.clear();
    } else {
      trial.states[1].failure->account =
          "1  create /foo\n2  fsync /foo   <- <persistent>\nlost: write 7\n";
      trial.states[1].failure->replay = "headcrash replay '" + trial.key + "' --state w24-7";
    }
    must(database_->record_trial(run_, trial));
  }
  std::string page() {
    must_be(database_->finish_run(run_));
    if (const char* where = std::getenv("HEADCRASH_SHOW_REPORT"))
      must(write_report(*database_, {std::filesystem::path(where) / "explored", {}}));
    return db::contents(must(write_report(*database_, {folder() / "out", {}})).page);
  }
  static void must_be(const Result<void>& result) {
    ASSERT_TRUE(result) << result.error().message();
  }

  std::optional<db::Database> database_;
  std::int64_t run_ = 0;
  int number_ = 0;
};

TEST_F(ExplorationReport, ListsCandidatesFirstAndShowsBugsCoverageAndSteps) {
  add({"btrfs", "clean", "silent-loss", {}, ""});
  add({"ext4", "clean", "replayed", {}, ""});
  add({"ext4-nobarrier", "loss", "silent-loss", "lose", ""});
  add({"xfs", "clean", "lost-synced-data", "lose", "write-through"});
  add({"xfs", "clean", "replayed", "keep", ""});
  const std::string html = page();
  expect_links_lead_somewhere(html);
  const auto bugs = html.find("<section id=\"bugs\">"),
             candidates = html.find("<h3 id=\"candidates\">"),
             controls = html.find("<h3 id=\"controls\">"),
             trials = html.find("<section id=\"trials\">");
  ASSERT_NE(controls, std::string::npos);
  EXPECT_LT(bugs, candidates);
  EXPECT_LT(candidates, controls);
  EXPECT_LT(controls, trials);
  EXPECT_LT(html.find("ext4-nobarrier", controls), trials);
  EXPECT_EQ(html.find("This report is invalid"), std::string::npos);
  EXPECT_NE(html.find("1 of 2 file systems kept their promises; btrfs lost synced data"),
            std::string::npos)
      << "without controls";
  const auto bug = html.find("<div class=\"card bug\" id=\"bug.btrfs..silent-loss.posix\">"),
             wanted = html.find("<details id=\"wanted\"");
  ASSERT_NE(bug, std::string::npos);
  EXPECT_LT(bug, wanted);
  EXPECT_EQ(times(html, "class=\"card bug\""), 1U) << "one card per bug";
  const std::string card = html.substr(bug, wanted - bug);
  EXPECT_NE(card.find("workloads that show it: 1 of 1; crash states: 1"), std::string::npos)
      << card;
  EXPECT_NE(card.find("<p class=\"operations\">create foo; fsync foo</p>"), std::string::npos)
      << card;
  for (const char* key : {"btrfs+/stage/ace-seq1/0", "ext4-nobarrier+/stage/ace-seq1/2"})
    EXPECT_NE(html.find("id=\"" + anchor("failure", std::string(key) + ".w24-7") + "\""),
              std::string::npos)
        << key;
  // There must be one strip for each file system and role, with two states each. The second state
  // lost data only for btrfs and for the two controls.
  const auto strips = all_between(html, "<div class=\"strip\">", "</div>\n</div>").at(0);
  EXPECT_EQ(times(strips, "<svg"), 5U);
  EXPECT_EQ(times(strips, "<rect class=\"l\""), 3U) << "btrfs and two controls";
  EXPECT_LT(strips.find("btrfs"), strips.find("ext4-nobarrier")) << "candidates first";
  EXPECT_NE(html.find("<span>cut after 20 events</span><span>24</span>"), std::string::npos);
  EXPECT_NE(html.find("28 of 4096 subsets"), std::string::npos) << "states omitted by a bound";
  EXPECT_NE(html.find("&lt;persistent&gt;"), std::string::npos) << "the account, escaped";
  EXPECT_NE(html.find("headcrash replay &#39;btrfs"), std::string::npos);
  EXPECT_EQ(html.find("<section id=\"lateness\">"), std::string::npos)
      << "a stage has no clock to be late by";
  const auto json = must(report_summary(*database_, run_)).figures;
  EXPECT_EQ(json["unexpected"], 1) << "btrfs, without controls";
  EXPECT_EQ(json["valid"], true);
  ASSERT_EQ(json["exploration"]["cells"].size(), 5U);
  EXPECT_EQ(json["exploration"]["cells"][0]["filesystem"], "ext4-nobarrier");
  EXPECT_EQ(json["exploration"]["failures"].size(), 3U);
  EXPECT_EQ(json["exploration"]["failures"][0]["key"], "btrfs+/stage/ace-seq1/0")
      << "before the controls' failures";
  EXPECT_EQ(json["exploration"]["steps"][0]["step"], "mount");
  EXPECT_EQ(json["controls"], "controls as expected: 3 of 3");
  EXPECT_EQ(json["systems"][0]["filesystem"], "btrfs") << "unexpected results come first";
  EXPECT_EQ(json["systems"][3]["variant"], "write-through");
}

/// Tests which verdicts a control with each required result may have.
TEST_F(ExplorationReport, JudgesEachControlByItsRequiredResult) {
  struct Rule {
    const char *filesystem, *control, *verdict;
    int met;
  };
  const std::vector<Rule> rules = {
      {"a", "lose", "replayed", 0},        {"b", "lose", "repaired-by-fsck", 0},
      {"c", "lose", "stale-data", 1},      {"d", "damage", "repaired-by-fsck", 1},
      {"e", "damage", "replayed", 0},      {"f", "damage", "harness-error", 0},
      {"g", "keep", "replayed", 1},        {"h", "keep", "repaired-by-fsck", 0},
      {"i", "keep", "wrong-data", 0},      {"j", "keep-after-fsck", "repaired-by-fsck", 1},
      {"k", "keep-after-fsck", "hang", 0}, {"l", "keep-after-fsck", "silent-loss", 0},
      {"m", "damage", "broken-rule", 1},   {"n", "keep", "broken-rule", 0},
      {"o", "lose", "broken-rule", 0}};
  for (const Rule& rule : rules) add({rule.filesystem, "any", rule.verdict, rule.control, ""});
  const auto table = must(run_query(*database_, "cells", run_));
  ASSERT_EQ(table.size(), rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(table.row(i).maybe_integer("met"), rules[i].met) << rules[i].filesystem;
    EXPECT_EQ(table.row(i).integer("unexpected") == 0, rules[i].met == 1) << rules[i].filesystem;
  }
  const std::string html = page();
  EXPECT_LT(html.find("This report is invalid"), html.find("<h1>"));
  EXPECT_NE(html.find("i, stage, ace-seq1: expected clean; trials 1"), std::string::npos);
}

TEST_F(ExplorationReport, ReportsABrokenRuleThatNeedsNoPowerCut) {
  auto trial = db::some_explored_trial("ext4:md/stage/overwrite/0");
  trial.verdict = "broken-rule";
  trial.summary = "the stack md broke the rule flushed-on-all on hd1";
  trial.states.resize(1);
  trial.findings = {{"broken-rule", "documented", "hd1", "flushed-on-all", "no flush covers 17"}};
  must(database_->record_trial(run_, trial));
  const std::string html = page();
  EXPECT_NE(html.find("the stack md broke the rule flushed-on-all on hd1</p>"), std::string::npos);
  EXPECT_NE(html.find("expected flushed-on-all, found no flush covers 17"), std::string::npos);
  EXPECT_EQ(html.find("headcrash replay ext4:md/stage/overwrite/0"), std::string::npos);
  EXPECT_TRUE(must(failure_pages(*database_, run_, folder())).empty());
}

TEST_F(ExplorationReport, SetsKnownFailuresApart) {
  auto trial = db::some_explored_trial("ext4:md-raid1@7.3/stage/overwrite/0");
  trial.filesystem = "ext4:md-raid1@7.3";
  trial.variant.clear();
  trial.verdict = "broken-rule";
  trial.control = "keep";
  trial.known = "md-early-commit";
  trial.cause = "the stack md-raid1 broke the rule preflushed-on-all on hd1";
  must(database_->record_trial(run_, trial));
  trial.key = trial.filesystem = "xfs:md-raid5";
  trial.known.clear();
  must(database_->record_trial(run_, trial));
  const auto cells = must(run_query(*database_, "cells", run_));
  EXPECT_EQ(cells.row(0).maybe_integer("met"), 1);
  EXPECT_EQ(cells.row(0).integer("known"), 1);
  EXPECT_EQ(cells.row(0).integer("unexpected"), 0);
  EXPECT_EQ(cells.row(1).maybe_integer("met"), 0) << "the same failure, of which nothing is known";
  const auto stacks = must(run_query(*database_, "stacks", run_));
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks.row(0).text("stack"), "md-raid1");
  EXPECT_EQ(stacks.row(0).text("fs"), "ext4");
  EXPECT_EQ(stacks.row(0).text("kernel"), "7.3");
  EXPECT_EQ(stacks.row(0).text("verdict"),
            "known failure md-early-commit: the stack md-raid1 broke the rule preflushed-on-all on "
            "hd1");
  EXPECT_EQ(stacks.row(1).text("kernel"), "default");
  EXPECT_EQ(stacks.row(1).text("verdict"),
            "FAILED: the stack md-raid1 broke the rule preflushed-on-all on hd1");
  EXPECT_NE(must(report_summary(*database_, run_)).systems.find("known failure md-early-commit"),
            std::string::npos);
}

TEST_F(ExplorationReport, AcceptsAControlWithOneLosingWorkload) {
  for (int i = 0; i < 5; ++i)
    add({"f2fs", "loss", i == 3 ? "lost-synced-data" : "replayed", "lose", ""});
  EXPECT_EQ(must(run_query(*database_, "cells", run_)).row(0).maybe_integer("met"), 1);
}

TEST_F(ExplorationReport, GroupsSimilarFailuresOnACardShortestFirst) {
  for (int i = 0; i < 3; ++i) {
    auto trial = db::some_explored_trial("f2fs/stage/ace-seq1/" + std::to_string(i));
    trial.filesystem = "f2fs";
    trial.states[1].failure->operations =
        i == 1 ? "write a 0 4096\nfsync a"
               : "create b\nwrite b 0 4096\nsync\ntruncate b 0\nfdatasync b";
    must(database_->record_trial(run_, trial));
  }
  add({"ext4-nobarrier", "loss", "silent-loss", "lose", ""});
  const std::string html = page();
  EXPECT_EQ(times(html, "class=\"card bug\""), 1U);
  const auto bug = html.find("class=\"card bug\"");
  EXPECT_EQ(html.find("<p class=\"operations\">", bug),
            html.find("<p class=\"operations\">write a 0 4096; fsync a</p>"));
  EXPECT_NE(html.find("3 failure reports"), std::string::npos);
  // The map must have a column for each file system. A row is named after the last changing
  // operation and the promise that follows it, such as "write, then fsync".
  const auto map = all_between(html.substr(html.find("<section id=\"bugs\">")),
                               "<table class=\"heat\">", "</table>")
                       .at(0);
  EXPECT_NE(map.find(">write, then fsync</th>"), std::string::npos) << map;
  EXPECT_NE(
      map.find(
          "<td class=\"hbad\" data-label=\"f2fs\" title=\"2 of 3 trials of f2fs fail after truncate, then fdatasync\">2</td>"),
      std::string::npos)
      << map;
  EXPECT_NE(map.find("<td class=\"hwant\" data-label=\"ext4-nobarrier\""), std::string::npos)
      << map;
}

TEST_F(ExplorationReport, ReportsUnconfirmedFailuresAsNotReproduced) {
  add({"ext4", "clean", "replayed", {}, ""});
  auto trial = db::some_explored_trial("ext4/stage/x/1");
  trial.verdict = "harness-error";
  trial.states[1].failure->confirmed = false;
  trial.states[1].failure->disagreement = "clean on the second look";
  must(database_->record_trial(run_, trial));
  const std::string html = page();
  EXPECT_NE(html.find("Not reproduced on a fresh guest: clean on the second look"),
            std::string::npos);
  EXPECT_NE(html.find("failing states not reproduced on a fresh guest: 1"), std::string::npos);
}

TEST_F(ExplorationReport, ShowsTheMinimisedStateOnEachFailurePage) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 3; ++i) {
    auto trial = db::some_explored_trial("f2fs/stage/ace-seq1/" + std::to_string(i));
    trial.filesystem = i < 2 ? "f2fs" : "xfs";
    if (i == 1) trial.states[1].name = "w24-/w3-4";
    trial.states[1].failure->minimised_state = i == 1 ? "w3-" : "w24-7";
    trial.states[1].failure->replay = "headcrash replay " + trial.key + " --state w24-7";
    if (i == 2) trial.artefacts.clear();
    ids.push_back(must(database_->record_trial(run_, trial)));
  }
  const auto pages = must(failure_pages(*database_, std::nullopt, folder() / "out"));
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0].trial, ids[0]);
  EXPECT_EQ(pages[1].trial, ids[2]) << "the first of each card comes first";
  EXPECT_EQ(pages[2].trial, ids[1]);
  EXPECT_EQ(pages[0].state, "w24-7");
  EXPECT_EQ(pages[2].state, "w24-/w3-") << "minimised in the recording of that recovery";
  EXPECT_TRUE(pages[0].recorded);
  EXPECT_FALSE(pages[1].recorded);
  EXPECT_NE(pages[0].command.find("headcrash replay"), std::string::npos);
  // The report must link to a failure page if its file exists.
  std::filesystem::create_directories(folder() / "out");
  for (const FailurePage& each : pages) std::ofstream(folder() / "out" / each.file) << "a page";
  const std::string html = page();
  for (const FailurePage& each : pages)
    EXPECT_NE(html.find("href=\"" + each.file + "\""), std::string::npos) << each.file;
}

/// With HEADCRASH_LARGE_REPORT=TRIALS, measures the time that a report takes for an exploration
/// with that many trials. Every tenth trial loses data.
TEST_F(ExplorationReport, MeasuresTheTimeOfALargeExploration) {
  const char* trials = std::getenv("HEADCRASH_LARGE_REPORT");
  if (trials == nullptr) GTEST_SKIP() << "HEADCRASH_LARGE_REPORT is not set";
  must(db::execute(database_->handle(), "PRAGMA synchronous = OFF").map([] { return true; }));
  const int count = std::atoi(trials);
  for (int i = 0; i < count; ++i)
    add({i % 2 == 0 ? "ext4" : "xfs", "clean", i % 10 == 0 ? "silent-loss" : "replayed", {}, ""});
  must_be(database_->finish_run(run_));
  const auto before = std::chrono::steady_clock::now();
  const auto result = must(write_report(*database_, {folder() / "out", {}}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  fmt::print("{} trials: {:.2f} s; {} bytes of HTML\n", result.trials, took.count(),
             std::filesystem::file_size(result.page));
}

}  // namespace
}  // namespace headcrash::report
