// Tests the text of reports on benchmarks whose numbers are known. HEADCRASH_SHOW_REPORT=FOLDER
// keeps a realistic page in FOLDER for viewing. HEADCRASH_LARGE_REPORT=TRIALS prints the time that
// a large report takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"
#include "results/report/bench/bench_answer.h"
#include "results/report/bench/bench_export.h"
#include "results/report/bench/bench_page.h"
#include "results/report/bench/bench_plots.h"
#include "results/report/bench/testing/synthetic_bench.h"
#include "results/report/frame/testing/page_parts.h"
#include "results/report/report.h"

namespace headcrash::report {
namespace {

using db::must;
using statistics::Change;

class BenchReportTest : public db::ScratchFolder {
 protected:
  db::Database database(const std::string& name = "results.db") {
    return must(db::Database::open(folder() / name, db::Database::Access::read_write));
  }
  Benchmark gathered(const SyntheticBench& shape) {
    auto db = database(fmt::format("{}.db", ++databases_));
    fill(db, shape);
    return must(gather_benchmark(db, std::nullopt));
  }
  int databases_ = 0;
};

bool holds(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

const Entrant& entrant(const Contest& contest, const std::string& name) {
  for (const Entrant& each : contest.entrants)
    if (each.name() == name) return each;
  throw std::runtime_error("no entrant " + name);
}

TEST_F(BenchReportTest, GivesTheExpectedAnswerForKnownNumbers) {
  const Benchmark bench = gathered(four_filesystems());
  const BenchAnswer answer = answer_of(bench);
  EXPECT_EQ(answer.status, "comparisons: 1; fastest: xfs 1");
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_EQ(answer.notes[0],
            "CPU-bound cells: 1 (not ranked: the device was busy less than half of the time)");
  EXPECT_EQ(
      bench_text(bench, nullptr),
      "comparisons: 1; fastest: xfs 1\n"
      "! CPU-bound cells: 1 (not ranked: the device was busy less than half of the time)\n\n"
      "copy users=4, phase copy, on hp-c2447, time to quiescence\n"
      "  1  xfs    10.0\u00a0s  9.91\u00a0s to 10.1\u00a0s  100.0 %\n"
      "  2  ext4   12.0\u00a0s  11.9\u00a0s to 12.1\u00a0s  120.0 %  +20.0 %, 19.8 to 20.2\n"
      "  3  btrfs  20.0\u00a0s  19.8\u00a0s to 20.2\u00a0s  200.0 %  +100.0 %, 100.0 to 100.0\n"
      "  -  f2fs   CPU-bound: the device was busy 30.0\u00a0% of the time, the processor 60.0\u00a0%; "
      "8.00\u00a0s\n");
}

TEST_F(BenchReportTest, DoesNotRankCpuBoundCells) {
  auto shape = four_filesystems();
  const Contest contest = gathered(shape).contests.at(0);
  EXPECT_EQ(contest.ranked, 3U);
  EXPECT_EQ(contest.entrants.front().name(), "xfs");
  EXPECT_EQ(entrant(contest, "f2fs").standing.kind, Standing::Kind::cpu_bound);
  shape.contests[0].entrants[3].busy = 0.6;
  const Contest busy = gathered(shape).contests.at(0);
  EXPECT_EQ(busy.entrants.front().name(), "f2fs");
  EXPECT_NEAR(entrant(busy, "xfs").standing.to_best.ratio, 1.25, 1e-3);
}

TEST_F(BenchReportTest, MarksACellWithoutActivityAsIdle) {
  auto shape = four_filesystems();
  shape.contests[0].entrants[3].processor = 0.2;
  const Benchmark bench = gathered(shape);
  EXPECT_EQ(entrant(bench.contests.at(0), "f2fs").standing.kind, Standing::Kind::idle);
  EXPECT_EQ(bench.contests.at(0).ranked, 3U);
  const BenchAnswer answer = answer_of(bench);
  EXPECT_TRUE(
      holds(bench_text(bench, nullptr), "idle: the device was busy 30.0\u00a0% of the time"));
  ASSERT_EQ(answer.notes.size(), 1U);
  EXPECT_TRUE(holds(answer.notes[0], "idle cells: 1")) << answer.notes[0];
}

TEST_F(BenchReportTest, ExcludesFailedTrialsFromNumbers) {
  auto shape = four_filesystems();
  shape.contests[0].entrants[0].failed = 2;
  shape.contests[0].entrants[2].seconds.clear();
  shape.contests[0].entrants[2].failed = 3;
  const Benchmark bench = gathered(shape);
  const Contest& contest = bench.contests.at(0);
  EXPECT_EQ(bench.failed(), 5U);
  EXPECT_EQ(entrant(contest, "ext4").failed, 2U);
  EXPECT_EQ(entrant(contest, "ext4").measurements.size(), 5U);
  EXPECT_DOUBLE_EQ(entrant(contest, "ext4").standing.ranking.mean, 12'000);
  EXPECT_EQ(entrant(contest, "btrfs").standing.kind, Standing::Kind::unmeasured);
  EXPECT_EQ(entrant(contest, "btrfs").standing.rank, 0);
  const std::string text = bench_text(bench, nullptr);
  EXPECT_TRUE(holds(text, "failed trials: 3 of 3")) << text;
  EXPECT_TRUE(holds(text, "no space left on device")) << text;
}

TEST_F(BenchReportTest, GivesIndistinguishableEntrantsTheSameRank) {
  auto shape = four_filesystems();
  shape.contests[0].entrants[0].seconds = {10.0, 10.2, 9.9, 10.1, 10.0};
  const Benchmark bench = gathered(shape);
  EXPECT_EQ(entrant(bench.contests[0], "ext4").standing.rank, 1);
  EXPECT_EQ(entrant(bench.contests[0], "btrfs").standing.rank, 3);
  EXPECT_EQ(answer_of(bench).status, "comparisons: 1; no significant winner: 1");
}

TEST(Difference, DistinguishesATieFromAnInsignificantDifference) {
  using statistics::Change;
  const auto told = [](double ratio, double low, double high, Change change) {
    Standing standing;
    standing.pairs = 3;
    standing.to_best = {
        .ratio = ratio, .interval = statistics::Interval{low, high}, .change = change};
    return difference(standing);
  };
  EXPECT_EQ(told(1.139, 1.112, 1.168, Change::worse), "+13.9 %, 11.2 to 16.8");
  EXPECT_EQ(told(1.007, 0.996, 1.029, Change::cannot_tell), "+0.7 %, -0.4 to 2.9: not significant");
  EXPECT_EQ(told(1.001, 1.001, 1.001, Change::same), "+0.1 %, 0.1 to 0.1: a tie");
}

TEST_F(BenchReportTest, ComparesRepetitionsInPairs) {
  // Both file systems become slower by 40 % during the run. Their means therefore differ little in
  // relation to the spread, although xfs takes 5 % longer in each pair.
  auto shape = four_filesystems();
  shape.contests[0].entrants = {{"ext4", {10, 11, 12, 13, 14}},
                                {"xfs", {10.5, 11.55, 12.6, 13.65, 14.7}}};
  const Contest contest = gathered(shape).contests.at(0);
  const Standing& second = entrant(contest, "xfs").standing;
  EXPECT_EQ(second.rank, 2);
  EXPECT_EQ(second.pairs, 5U);
  EXPECT_NEAR(second.to_best.ratio, 1.05, 1e-9);
  EXPECT_GT(second.spread(), kWideSpread) << "and the spread is reported";
}

/// The report must show that xfs is 9 % faster than btrfs, although ext4, which has widely spread
/// values, has the lowest mean.
TEST_F(BenchReportTest, SeparatesEntrantsBehindANoisyLeader) {
  auto shape = four_filesystems();
  shape.contests[0].entrants = {{"ext4", {0.3, 1.7, 0.985, 0.8, 1.2}},
                                {"xfs", {1.009, 1.010, 1.011, 1.010, 1.010}},
                                {"btrfs", {1.099, 1.100, 1.101, 1.100, 1.100}}};
  const Contest contest = gathered(shape).contests.at(0);
  EXPECT_EQ(contest.entrants.front().name(), "ext4");
  EXPECT_EQ(entrant(contest, "ext4").standing.rank, 1);
  EXPECT_EQ(entrant(contest, "xfs").standing.rank, 1);
  EXPECT_EQ(entrant(contest, "btrfs").standing.rank, 2);
}

/// `b` is slower than `a` by 10 to 22 % in three repetitions. That is significant for one pair of
/// entrants, but not for 45 pairs.
TEST_F(BenchReportTest, RequiresMoreEvidenceIfThereAreManyPairs) {
  auto shape = four_filesystems();
  auto& entrants = shape.contests[0].entrants;
  entrants = {{"a", {10, 10, 10}}, {"b", {11, 11.6, 12.2}}};
  EXPECT_EQ(entrant(gathered(shape).contests.at(0), "b").standing.rank, 2);
  for (const char* name : {"c", "d", "e", "f", "g", "h", "i", "j"})
    entrants.push_back({name, {10, 10, 10}});
  const Contest many = gathered(shape).contests.at(0);
  EXPECT_EQ(entrant(many, "b").standing.rank, 1);
  EXPECT_EQ(entrant(many, "b").standing.to_best.change, statistics::Change::cannot_tell);
}

TEST_F(BenchReportTest, ClaimsNoCertaintyFromOneRepetition) {
  auto shape = four_filesystems();
  for (auto& each : shape.contests[0].entrants) each.seconds.resize(1);
  const Benchmark bench = gathered(shape);
  EXPECT_EQ(entrant(bench.contests[0], "btrfs").standing.rank, 1) << "no difference is significant";
  const auto notes = fmt::format("{}", fmt::join(answer_of(bench).notes, "\n"));
  EXPECT_TRUE(holds(notes, "fewer than three repetitions")) << notes;
  EXPECT_TRUE(holds(bench_text(bench, nullptr), "pairs: 1"));
}

TEST_F(BenchReportTest, WarnsAboutOutliersLateTrialsAndABusyHost) {
  auto shape = four_filesystems();
  shape.contests[0].entrants[1].seconds = {10.0, 10.0, 10.1, 9.9, 10.0, 15.0};
  shape.late_every = 5;
  auto db = database();
  fill(db, shape);
  must(db::execute(db.handle(),
                   "UPDATE trial SET host_busy = 0.4 WHERE filesystem = 'btrfs' AND repetition = 0")
           .map([] { return true; }));
  const auto result = must(write_report(db, {.output = folder() / "out"}));
  const std::string page = db::contents(result.page);
  EXPECT_TRUE(holds(result.text, "outliers: 1")) << result.text;
  EXPECT_TRUE(holds(result.text, "spread"));
  EXPECT_TRUE(holds(result.text, "late trials: 4 of 21")) << result.text;
  EXPECT_TRUE(holds(result.text, "trials on a busy host: 1 of 21")) << result.text;
  EXPECT_TRUE(holds(page, "15.0\u00a0s <b class=\"warn\">(outlier")) << "marked at the value";
  EXPECT_TRUE(holds(page, "busy host)"));
}

TEST_F(BenchReportTest, DrawsFlushesAndTheLoadOverTime) {
  const Benchmark bench = gathered(four_filesystems());
  ASSERT_EQ(bench.flushes.size(), 4U);
  ASSERT_EQ(bench.load.size(), 4U) << "one repetition per entrant";
  std::int64_t flushes = 0;
  for (const BenchCurve& each : bench.flushes) flushes += each.requests;
  EXPECT_EQ(flushes % 24, 0) << "of all repetitions";
  EXPECT_GT(flushes, 4 * 24);
  EXPECT_DOUBLE_EQ(bench.flushes[0].points.back().second, 1);
  const BenchLoad& load = bench.load[0];
  ASSERT_EQ(load.spans.size(), 8U);
  EXPECT_EQ(load.spans[1].begin_ms, load.spans[0].end_ms);
  EXPECT_NEAR(load.spans[0].bytes / load.spans[7].bytes, 4, 0.01);
  EXPECT_DOUBLE_EQ(load.spans[0].inside, 3);
  const BenchPlots plots = must(bench_plots(bench));
  EXPECT_EQ(plots.flushes.size(), 1U);
  ASSERT_EQ(plots.load.size(), 2U);
  EXPECT_TRUE(holds(plots.load[0].title, "bytes per second"));
  EXPECT_TRUE(holds(plots.load[1].title, "requests in the device"));
  auto db = database();
  fill(db, four_filesystems());
  const std::string page = db::contents(must(write_report(db, {.output = folder() / "out"})).page);
  EXPECT_TRUE(holds(page, "id=\"load\""));
  EXPECT_TRUE(holds(page, "1 plot of flushes"));
}

/// A database from an older version may lack the data for some plots. The other plots must still be
/// drawn.
TEST_F(BenchReportTest, OmitsPlotsWhoseDataAnOlderDatabaseLacks) {
  auto db = database();
  fill(db, four_filesystems());
  for (const char* table : {"load", "flush_latency"})
    must(db::execute(db.handle(), fmt::format("DELETE FROM {}", table)).map([] { return true; }));
  const std::string page = db::contents(must(write_report(db, {.output = folder() / "out"})).page);
  EXPECT_FALSE(holds(page, "id=\"load\""));
  EXPECT_FALSE(holds(page, "of flushes"));
  EXPECT_TRUE(holds(page, "id=\"latency\""));
}

TEST_F(BenchReportTest, RanksByElapsedTimeWithoutQuiescence) {
  auto shape = four_filesystems();
  shape.quiescence = false;
  const Contest contest = gathered(shape).contests.at(0);
  EXPECT_FALSE(contest.to_quiescence);
  EXPECT_DOUBLE_EQ(entrant(contest, "xfs").standing.ranking.mean, 9'000);
}

TEST_F(BenchReportTest, CountsOnlySignificantSlowdownsAsRegressions) {
  const Benchmark then = gathered(four_filesystems());
  auto shape = four_filesystems();
  auto& entrants = shape.contests[0].entrants;
  for (double& s : entrants[0].seconds) s *= 1.2;   // ext4: worse
  for (double& s : entrants[1].seconds) s *= 0.8;   // xfs: better
  for (double& s : entrants[2].seconds) s *= 1.01;  // btrfs: within the tolerance
  shape.qemu = "8.0";
  const auto compared = compare_with_baseline(gathered(shape), then, kBaselineTolerance);
  ASSERT_EQ(compared.changes.size(), 4U);
  std::map<std::string, Change> verdicts;
  for (const CellChange& change : compared.changes) verdicts[change.entrant] = change.change;
  EXPECT_EQ(verdicts["ext4"], Change::worse);
  EXPECT_EQ(verdicts["xfs"], Change::better);
  EXPECT_EQ(verdicts["btrfs"], Change::same);
  EXPECT_EQ(verdicts["f2fs"], Change::cannot_tell) << "CPU-bound";
  EXPECT_EQ(compared.regressions(), 1U);
  ASSERT_EQ(compared.differences.size(), 1U);
  EXPECT_EQ(compared.differences[0], "qemu: 7.2 in the baseline, 8.0 in this run");
  EXPECT_EQ(verdict_line(compared), "worse: 1, better: 1, unchanged: 1, inconclusive: 1");
  EXPECT_EQ(compare_with_baseline(then, then, kBaselineTolerance).regressions(), 0U);
}

/// A significant difference in one of thirty cells may be due to chance.
TEST_F(BenchReportTest, CorrectsBaselineComparisonsForTheNumberOfCells) {
  auto before = four_filesystems(), after = before;
  before.contests[0].entrants = {{"a", {10, 10.5, 11}}};
  after.contests[0].entrants = {{"a", {12, 12.5, 13.3}}};
  EXPECT_EQ(
      compare_with_baseline(gathered(after), gathered(before), kBaselineTolerance).regressions(),
      1U);
  for (int i = 0; i < 30; ++i)
    for (auto* shape : {&before, &after})
      shape->contests[0].entrants.push_back({fmt::format("same{}", i), {10, 10.5, 11}});
  EXPECT_EQ(
      compare_with_baseline(gathered(after), gathered(before), kBaselineTolerance).regressions(),
      0U);
}

TEST_F(BenchReportTest, CountsANewlyFailingWorkloadButNotAMissingOneAsARegression) {
  const Benchmark then = gathered(four_filesystems());
  auto shape = four_filesystems();
  auto& entrants = shape.contests[0].entrants;
  entrants[0].failed = 1;
  entrants[1].seconds.clear();
  entrants[1].failed = 5;
  entrants.erase(entrants.begin() + 2);
  const auto compared = compare_with_baseline(gathered(shape), then, kBaselineTolerance);
  std::map<std::string, CellChange> changes;
  for (const CellChange& change : compared.changes) changes[change.entrant] = change;
  EXPECT_TRUE(changes["ext4"].regression);
  EXPECT_EQ(changes["ext4"].reason, "1 of 6 trials failed, but none in the baseline");
  EXPECT_TRUE(changes["xfs"].regression);
  EXPECT_FALSE(changes["btrfs"].regression);
  EXPECT_EQ(changes["btrfs"].reason, "not measured in this run");

  for (auto& each : entrants) {
    each.seconds.clear();
    each.failed = 2;
  }
  EXPECT_EQ(compare_with_baseline(gathered(shape), then, kBaselineTolerance).regressions(), 3U)
      << "without measurements no phase is known";
}

TEST_F(BenchReportTest, WritesAllFilesOfTheReport) {
  auto old = database("old.db"), now = database("now.db");
  fill(old, four_filesystems());
  auto shape = four_filesystems();
  for (double& s : shape.contests[0].entrants[0].seconds) s *= 1.5;
  shape.contests[0].entrants[0].filesystem = "ext4";
  const auto run = fill(now, shape);
  const auto result =
      must(write_report(now, {.output = folder() / "out",
                              .baseline = BaselineOptions{.database = folder() / "old.db"},
                              .csv = folder() / "tables"}));
  EXPECT_EQ(result.run, run);
  EXPECT_EQ(result.trials, 20);
  EXPECT_EQ(result.regressions, 1U);
  for (const char* name : {"measures", "cells", "trials", "metrics", "rankings", "baseline"})
    EXPECT_TRUE(holds(db::contents(folder() / "tables" / fmt::format("{}.csv", name)), "\r\n"))
        << name;
  must(write_ci_files({.junit = folder() / "ci" / "bench.xml"}, "bench", result.cases, "1").map([] {
    return true;
  }));
  const std::string xml = db::contents(folder() / "ci" / "bench.xml");
  EXPECT_TRUE(holds(xml, "tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"")) << xml;
  EXPECT_TRUE(holds(
      xml,
      "name=\"ext4\" time=\"18.000000\"><failure message=\"slower by 50.0 % than the baseline\"/>"))
      << xml;
  const auto& json = result.summary;
  EXPECT_EQ(json["contests"][0]["entrants"][0]["filesystem"], "xfs");
  EXPECT_EQ(json["contests"][0]["entrants"][0]["rank"], 1);
  EXPECT_EQ(json["contests"][0]["entrants"][0]["measurements"].size(), 5U);
  EXPECT_EQ(json["baseline"]["regressions"], 1);
  const std::string page = without_own_script(db::contents(result.page));
  expect_links_lead_somewhere(page);
  EXPECT_LT(page.find("Slower than the baseline"), page.find("<h1>"));
  for (const char* unwanted : {"http:", "https:", "src=", "<script", "<link", "@import", "url("})
    EXPECT_FALSE(holds(page, unwanted)) << unwanted;
}

TEST_F(BenchReportTest, HandlesEmptyInterruptedAndNonBenchmarkRuns) {
  auto db = database();
  EXPECT_FALSE(write_report(db, {.output = folder() / "out"}));
  SyntheticBench none;
  none.finished = false;
  fill(db, none);
  const auto result = must(write_report(db, {.output = folder() / "out", .csv = folder() / "csv"}));
  EXPECT_TRUE(holds(result.text, "no trial has finished")) << result.text;
  EXPECT_TRUE(holds(result.text, "interrupted"));
  must(db.begin_run(db::some_run()));
  const auto campaign =
      write_report(db, {.output = folder() / "out", .run = 2, .csv = folder() / "csv"});
  ASSERT_FALSE(campaign);
  EXPECT_TRUE(holds(campaign.error().message(), "is a campaign, not a benchmark"))
      << campaign.error().message();
  EXPECT_TRUE(write_report(db, {.output = folder() / "out", .csv = folder() / "csv"}))
      << "the newest benchmark";
}

TEST_F(BenchReportTest, EscapesUnusualNames) {
  auto shape = four_filesystems();
  shape.contests[0].entrants[0].filesystem =
      "<script>alert('x')</script>\"&\\ {_^@} \xff\n\t$d << END_OF_DATA";
  shape.contests[0].device =
      "a device whose name is so long that no margin of any plot could ever hold all of it";
  shape.contests[0].workload = "na\xc3\xafve \x1b[31m \xef\xbf\xbe";
  auto db = database();
  fill(db, shape);
  const auto result = must(write_report(db, {.output = folder() / "out"}));
  const std::string page = without_own_script(db::contents(result.page)),
                    xml = as_junit("bench", result.cases);
  expect_links_lead_somewhere(page);
  for (const std::string& text : {page, xml, result.text}) {
    EXPECT_FALSE(holds(text, "\xff"));
    EXPECT_FALSE(holds(text, "\x1b"));
  }
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_FALSE(holds(xml, "<script"));
  EXPECT_FALSE(holds(xml, "\xef\xbf\xbe"));
  EXPECT_NO_THROW(result.summary.dump());
}

TEST_F(BenchReportTest, OmitsInvalidTimesFromComparisons) {
  auto db = database();
  auto shape = four_filesystems();
  shape.contests[0].entrants[1].seconds[0] = 0;
  fill(db, shape);
  must(db::execute(db.handle(),
                   "UPDATE measure SET quiescent_ms = 9e999, elapsed_ms = -1 WHERE phase_id = 1")
           .map([] { return true; }));
  const auto result = must(write_report(db, {.output = folder() / "out"}));
  EXPECT_FALSE(holds(result.text, "inf"));
  EXPECT_FALSE(holds(result.text, "nan"));
  EXPECT_TRUE(holds(result.text, "xfs"));
}

TEST(ValueOf, FindsAParameterAmongOthers) {
  EXPECT_EQ(value_in("files=10 users=4 wide=1", "users")->value, 4);
  EXPECT_EQ(value_in("files=10 users=4 wide=1", "users")->rest, "files=10 wide=1");
  EXPECT_EQ(value_in("file-bytes=7 files=10", "files")->value, 10);
  for (const char* none : {"", "files=10", "superusers=3", "users=", "users=x", "users=0",
                           "users=99999999999999999999"})
    EXPECT_FALSE(value_in(none, "users")) << none;
}

SyntheticBench recoveries() {
  SyntheticBench shape{.name = "recovery"};
  for (const int dirty : {100, 400, 1600}) {
    for (const char* phase : {"replay", "fsck", "mount"}) {
      const double seconds = 0.01 * dirty;
      shape.contests.push_back(
          {.device = "hp-c2447",
           .workload = "recovery",
           .parameters = fmt::format("dirty={} file-bytes=4096 files=1000", dirty),
           .phase = phase,
           .scale = "custom",
           .entrants = {{.filesystem = "ext4", .seconds = {seconds, seconds * 1.1}},
                        {.filesystem = "xfs", .seconds = {seconds / 2}, .busy = 0.2}}});
    }
  }
  return shape;
}

TEST_F(BenchReportTest, DrawsRecoveryAgainstTheVaryingParameter) {
  const BenchPlots plots = must(bench_plots(gathered(recoveries())));
  ASSERT_EQ(plots.recovery.size(), 3U) << "replay, fsck, mount; only the dirty files vary";
  for (const Plot& plot : plots.recovery) EXPECT_TRUE(holds(plot.title, "by dirty")) << plot.title;
  EXPECT_TRUE(must(bench_plots(gathered(four_filesystems()))).recovery.empty());
}

TEST(AgedPhase, ParsesTheDayAtTheEndOfAPhaseName) {
  EXPECT_EQ(aged_phase("read-old day 91")->what, "read-old");
  EXPECT_EQ(aged_phase("read-old day 91")->day, 91);
  EXPECT_EQ(aged_phase("write day 0")->day, 0);
  for (const char* none :
       {"", "read", " day 3", "read day", "read day x", "read day 3 or 4", "read day -1"})
    EXPECT_FALSE(aged_phase(none)) << none;
}

TEST_F(BenchReportTest, DrawsAgeingOverTheDays) {
  SyntheticBench shape{.name = "ageing", .virtual_time = true};
  for (const int day : {0, 91, 182}) {
    for (const char* what : {"read-old", "write"}) {
      shape.contests.push_back(
          {.device = "hp-c2447",
           .workload = "ageing",
           .parameters = "days=182",
           .phase = fmt::format("{} day {}", what, day),
           .scale = "custom",
           .entrants = {{.filesystem = "ext4", .seconds = {1 + 0.01 * day}, .layout_score = 0.9},
                        {.filesystem = "xfs", .seconds = {2}, .busy = 0.2}}});
    }
  }
  const BenchPlots plots = must(bench_plots(gathered(shape)));
  ASSERT_EQ(plots.ageing.size(), 4U) << "two phases, and the layout of files";
  EXPECT_TRUE(holds(plots.ageing[0].title, "<b>read-old</b> time"));
  EXPECT_TRUE(holds(plots.ageing[3].title, "<b>write</b> layout score"));
  EXPECT_TRUE(holds(must(bench_page(gathered(shape), nullptr)), "id=\"ageing\""));
  shape.contests.resize(2);
  EXPECT_TRUE(must(bench_plots(gathered(shape))).ageing.empty()) << "one day";
  EXPECT_TRUE(must(bench_plots(gathered(four_filesystems()))).ageing.empty());
}

TEST_F(BenchReportTest, DrawsRecoveryAgainstTheSizeOfTheDisk) {
  SyntheticBench shape{.name = "recovery-size", .virtual_time = true};
  for (const int gigabytes : {1, 10, 100}) {
    for (const char* phase : {"power on to mounted", "fsck"}) {
      shape.contests.push_back({.device = fmt::format("sata-7200-{}G", gigabytes),
                                .workload = "boot-after-cut",
                                .parameters = "files=1000",
                                .phase = phase,
                                .scale = "custom",
                                .entrants = {{.filesystem = "ext4", .seconds = {0.1 * gigabytes}}},
                                .profile = "sata-7200",
                                .device_bytes = std::int64_t{gigabytes} << 30});
    }
  }
  const BenchPlots plots = must(bench_plots(gathered(shape)));
  ASSERT_EQ(plots.recovery.size(), 2U);
  const std::string titles = plots.recovery[0].title + plots.recovery[1].title;
  for (const char* phase : {"power on to mounted", "fsck"})
    EXPECT_TRUE(holds(
        titles, fmt::format("<b>{}</b> by size in bytes <small>sata-7200 &middot; files", phase)))
        << titles;
  for (SyntheticContest& contest : shape.contests) contest.device_bytes = 1 << 30;
  EXPECT_TRUE(must(bench_plots(gathered(shape))).recovery.empty()) << "one size";
}

TEST_F(BenchReportTest, PrintsRankingsExpandedButTheirTablesCollapsed) {
  auto shape = four_filesystems();
  shape.contests.push_back(shape.contests[0]);
  shape.contests[1].device = "sata-7200";
  auto db = database();
  fill(db, shape);
  const std::string page = db::contents(must(write_report(db, {.output = folder() / "out"})).page);
  EXPECT_TRUE(holds(page, "class=\"cell on-paper\"><summary><b>sata-7200</b>: "));
  EXPECT_TRUE(holds(page, "<details class=\"on-paper\"><summary>Host, versions, run</summary>"));
  EXPECT_TRUE(holds(page, "<details><summary>Every repetition and every counter"));
  EXPECT_TRUE(holds(page, "querySelectorAll('details.on-paper:not([open])')"));
}

/// Returns the HTML of the map's cell whose tooltip begins with `hint`.
std::string map_cell(const std::string& page, const std::string& hint) {
  const auto at = page.find("title=\"" + hint);
  if (at == std::string::npos) return "no such cell";
  const auto start = page.rfind("<td", at);
  return page.substr(start, page.find("</td>", at) - start);
}

TEST_F(BenchReportTest, HeatMapMarksTheBestAndShadesTheOthers) {
  auto db = database();
  fill(db, four_filesystems());
  const std::string page = db::contents(must(write_report(db, {.output = folder() / "out"})).page);
  const std::string best = map_cell(page, "xfs: "), second = map_cell(page, "ext4: "),
                    last = map_cell(page, "btrfs: "), cpu = map_cell(page, "f2fs, CPU-bound");
  EXPECT_TRUE(holds(best, "class=\"h0 best\"") && holds(best, ">1.00<")) << best;
  EXPECT_TRUE(holds(second, "class=\"h1\"") && holds(second, ">1.20<")) << second;
  EXPECT_TRUE(holds(last, "class=\"h3\"") && holds(last, ">2.00<")) << last;
  EXPECT_TRUE(holds(cpu, "class=\"hother\"") && holds(cpu, ">CPU")) << cpu;
  EXPECT_TRUE(holds(
      page, "<details id=\"cautions\" class=\"cautions on-paper\"><summary>1 caution</summary>"));
  // The map must mark all entrants with rank 1.
  auto shape = four_filesystems();
  shape.contests[0].entrants[0].seconds = {10.0, 10.2, 9.9, 10.1, 10.0};
  auto other = database("other.db");
  fill(other, shape);
  const std::string tied =
      db::contents(must(write_report(other, {.output = folder() / "out"})).page);
  EXPECT_TRUE(holds(map_cell(tied, "ext4: "), "best") && holds(map_cell(tied, "xfs: "), "best"));
}

TEST_F(BenchReportTest, NamesARowByItsDifferencesAndGivesTheRestInATooltip) {
  auto shape = four_filesystems();
  shape.contests[0].parameters = "files=100 users=4";
  shape.contests.push_back(shape.contests[0]);
  shape.contests[1].parameters = "files=100 users=8";
  shape.contests.push_back(shape.contests[0]);
  shape.contests[2].workload = shape.contests[2].phase = "other";
  const Benchmark bench = gathered(shape);
  EXPECT_EQ(short_name(bench, bench.contests[0]), "copy users=4");
  EXPECT_EQ(short_name(bench, bench.contests[1]), "copy users=8");
  EXPECT_EQ(short_name(bench, bench.contests[2]), "other");
  EXPECT_TRUE(holds(must(bench_page(bench, nullptr)),
                    "title=\"copy files=100 users=4, phase copy, on hp-c2447\""));
}

SyntheticBench in_virtual_time() {
  SyntheticBench shape = four_filesystems();
  shape.virtual_time = true;
  shape.accelerator = "user-mode";
  return shape;
}

TEST_F(BenchReportTest, ShowsVirtualTimeInTheHeaderAndNextToTheNumbers) {
  const Benchmark bench = gathered(in_virtual_time());
  EXPECT_TRUE(answer_of(bench).clock.starts_with("virtual time: processor time is zero"));
  EXPECT_TRUE(answer_of(gathered(four_filesystems())).clock.empty());
  const std::string text = bench_text(bench, nullptr);
  EXPECT_TRUE(holds(text, "\nvirtual time: processor time is zero;")) << text;
  EXPECT_TRUE(holds(text, ", on hp-c2447, virtual time to quiescence\n")) << text;

  auto db = database();
  fill(db, in_virtual_time());
  const auto result =
      must(write_report(db, {.output = folder() / "out", .csv = folder() / "tables"}));
  const std::string page = without_own_script(db::contents(result.page));
  EXPECT_LT(page.find("Timed comparison in virtual time"), page.find("<h1>"));
  EXPECT_LT(page.find("<p>In virtual time: processor time is zero"), page.find("</header>"));
  EXPECT_TRUE(holds(page, "<span>virtual time: processor time is zero</span>"))
      << "next to the map";
  EXPECT_TRUE(holds(page, ">virtual time to quiescence</th>")) << "over the ranking";
  EXPECT_TRUE(holds(page, ">virtual time to quiescence, by repetition</th>"))
      << "over the measures";
  EXPECT_TRUE(holds(page, "In virtual time guest and device share a clock"));
  EXPECT_EQ(result.summary["clock"], "virtual");
  EXPECT_EQ(result.summary["contests"][0]["clock"], "virtual");
  const std::string csv = db::contents(folder() / "tables" / "rankings.csv");
  EXPECT_EQ(times(csv, ",virtual\r\n"), 4U) << csv;
}

TEST_F(BenchReportTest, OmitsRealTimeNotesInVirtualTime) {
  auto shape = in_virtual_time();
  shape.host_busy = 0.7;
  const Benchmark bench = gathered(shape);
  for (const std::string& note : answer_of(bench).notes)
    EXPECT_FALSE(holds(note, "clock=") || holds(note, "busy host") || holds(note, "CPU")) << note;
  const Entrant& idle = entrant(bench.contests.at(0), "f2fs");
  EXPECT_EQ(idle.standing.kind, Standing::Kind::idle) << "there is no processor time";
  EXPECT_TRUE(
      unranked_because(idle).starts_with("idle: the device was busy 30.0\u00a0% of the time; "));
  const std::string page = must(bench_page(bench, nullptr));
  for (const char* unwanted :
       {"CPU:", "user CPU", "busy host", "host used by others", "of one processor",
        "No phase had a real-time clock", "as the client saw it, mean"})
    EXPECT_FALSE(holds(page, unwanted)) << unwanted;

  shape.virtual_time = false;
  const Benchmark real = gathered(shape);
  EXPECT_TRUE(holds(answer_of(real).notes.at(0), "trials on a busy host: 20 of 20"));
  EXPECT_TRUE(holds(must(bench_page(real, nullptr)), "host used by others"));
}

TEST_F(BenchReportTest, MarksEntrantsThatLeaveTheDeviceIdleInRealTimeOnly) {
  for (const bool virtual_time : {false, true}) {
    auto shape = in_virtual_time();
    shape.virtual_time = virtual_time;
    auto db = database(fmt::format("{}.db", virtual_time));
    fill(db, shape);
    must(
        db::execute(db.handle(), "UPDATE measure SET device_busy_ms = 0").map([] { return true; }));
    const Benchmark bench = must(gather_benchmark(db, std::nullopt));
    EXPECT_EQ(marks_of(entrant(bench.contests.at(0), "ext4")).empty(), virtual_time);
  }
}

TEST_F(BenchReportTest, RejectsAComparisonOfRealAndVirtualTime) {
  EXPECT_NE(gathered(in_virtual_time()).contests.at(0).identity(),
            gathered(four_filesystems()).contests.at(0).identity());
  auto real = database("real.db"), both = database("both.db");
  fill(real, four_filesystems());
  const auto first = fill(both, four_filesystems()), second = fill(both, in_virtual_time());
  const ReportOptions options{.output = folder() / "out",
                              .baseline = BaselineOptions{.database = folder() / "real.db"}};
  const auto refused = write_report(both, options);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(holds(refused.error().message(),
                    "the baseline is in real time, so their times cannot be compared"))
      << refused.error().message();
  // A report must contain only one run, even if the database has several.
  EXPECT_EQ(must(write_report(both, {.output = folder() / "a", .run = first})).summary["clock"],
            "real");
  EXPECT_EQ(must(write_report(both, {.output = folder() / "b", .run = second})).summary["clock"],
            "virtual");
}

TEST_F(BenchReportTest, LabelsChargedTimeAndRejectsComparisonsWithOtherClocks) {
  auto shape = in_virtual_time();
  shape.charge = 2.5;
  const Benchmark bench = gathered(shape);
  EXPECT_TRUE(holds(answer_of(bench).clock, "2.5 times the time on this host"))
      << answer_of(bench).clock;
  EXPECT_TRUE(holds(answer_of(bench).clock, "not deterministic"));
  const std::string text = bench_text(bench, nullptr);
  EXPECT_TRUE(holds(text, ", on hp-c2447, charged virtual time to quiescence\n")) << text;
  const std::string page = must(bench_page(bench, nullptr));
  EXPECT_TRUE(holds(page, "not deterministic"));
  EXPECT_FALSE(holds(page, "processor time is zero"));
  EXPECT_FALSE(holds(page, "to the nanosecond"));

  auto charged = database("charged.db"), plain = database("plain.db"), more = database("more.db");
  fill(plain, in_virtual_time());
  fill(charged, shape);
  auto twice = shape;
  twice.charge = 5;
  fill(more, twice);
  for (const char* other : {"plain.db", "more.db"}) {
    const auto refused = write_report(
        charged,
        {.output = folder() / "out", .baseline = BaselineOptions{.database = folder() / other}});
    ASSERT_FALSE(refused) << other;
    EXPECT_TRUE(holds(refused.error().message(), "cannot be compared"))
        << refused.error().message();
  }
  const auto result =
      must(write_report(charged, {.output = folder() / "out", .csv = folder() / "tables"}));
  EXPECT_EQ(result.summary["clock"], "charged:2.5");
  EXPECT_EQ(times(db::contents(folder() / "tables" / "rankings.csv"), ",charged:2.5\r\n"), 4U);
  // Contests must not mix trials with different clocks, even if the trials belong to the same run.
  must(db::execute(charged.handle(), "UPDATE trial SET clock = 'virtual' WHERE repetition = 0")
           .map([] { return true; }));
  EXPECT_EQ(must(gather_benchmark(charged, std::nullopt)).contests.size(),
            2 * bench.contests.size());
}

TEST_F(BenchReportTest, WritesAPageForManualInspection) {
  const char* where = std::getenv("HEADCRASH_SHOW_REPORT");
  if (where == nullptr) GTEST_SKIP() << "HEADCRASH_SHOW_REPORT is not set";
  const std::filesystem::path there = std::filesystem::path(where) / "bench";
  std::filesystem::remove_all(there);
  const auto made = [&](const char* name) {
    return must(db::Database::open(there / name, db::Database::Access::read_write));
  };
  auto old = made("old.db"), now = made("now.db");
  auto before = a_real_bench();
  for (auto& contest : before.contests)
    for (auto& each : contest.entrants)
      if (each.filesystem == "f2fs" && contest.device == "hp-c2447")
        for (double& s : each.seconds) s *= 0.8;
  before.qemu = "7.1";
  fill(old, before);
  fill(now, a_real_bench());
  const auto result =
      must(write_report(now, {.output = there,
                              .baseline = BaselineOptions{.database = there / "old.db"},
                              .csv = there / "csv"}));
  std::ofstream(there / "junit.xml") << as_junit("bench", result.cases);
  std::ofstream(there / "report.txt") << result.text;
  std::ofstream(there / "report.json") << result.summary.dump(2);
  EXPECT_TRUE(write_report(now, {.output = there / "alone"}));
}

TEST_F(BenchReportTest, MeasuresTheTimeOfALargeReport) {
  const char* trials = std::getenv("HEADCRASH_LARGE_REPORT");
  if (trials == nullptr) GTEST_SKIP() << "HEADCRASH_LARGE_REPORT is not set";
  auto db = database();
  must(db::execute(db.handle(), "PRAGMA synchronous = OFF").map([] { return true; }));
  fill(db, a_large_bench(std::atoi(trials)));
  const auto before = std::chrono::steady_clock::now();
  const auto processor_before = std::clock();
  const auto result = must(write_report(db, {.output = folder() / "out", .csv = folder() / "csv"}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  const double processor = static_cast<double>(std::clock() - processor_before) / CLOCKS_PER_SEC;
  fmt::print("{} trials: {:.2f} s, {:.2f} s of it on the processor; {} bytes of HTML\n",
             result.trials, took.count(), processor, std::filesystem::file_size(result.page));
}

}  // namespace
}  // namespace headcrash::report
