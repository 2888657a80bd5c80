#include "results/db/merge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "results/db/claim.h"
#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

class MergeTest : public ScratchFolder {
 protected:
  /// Creates a shard with three trials, and with an artefact in the shard's directory.
  std::filesystem::path shard(const std::string& name, unsigned index, unsigned count,
                              bool finished,
                              std::vector<std::string> verdicts = {"replayed", "replayed",
                                                                   "silent-loss"}) {
    const auto path = folder() / name / "results.db";
    auto db = must(Database::open(path, Database::Access::read_write));
    auto run = some_run();
    run.digest = "12ab-" + std::to_string(index) + "/" + std::to_string(count);
    run.trials_planned = 3;
    const auto id = must(db.begin_run(run));
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      auto trial = some_explored_trial("ext4/stage/ace-seq1/" + std::to_string(i * count + index));
      trial.verdict = verdicts[i];
      trial.phases = some_trial("x").phases;
      must(db.record_trial(id, trial));
    }
    if (finished) must_be(db.finish_run(id));
    std::filesystem::create_directories(path.parent_path() / "trial-1");
    std::ofstream(path.parent_path() / "trial-1" / "recording.hcr") << "x";
    return path;
  }
  static void must_be(const Result<void>& result) {
    ASSERT_TRUE(result) << result.error().message();
  }
  std::filesystem::path output() const { return folder() / "merged" / "all.db"; }
  Result<MergeOutcome> merge(const std::vector<std::filesystem::path>& inputs) {
    std::filesystem::create_directories(output().parent_path());
    return merge_databases(inputs, output());
  }
  void expect_refused(const std::vector<std::filesystem::path>& inputs, const std::string& word) {
    const auto refused = merge(inputs);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find(word), std::string::npos) << refused.error().message();
    EXPECT_TRUE(std::filesystem::is_empty(output().parent_path())) << "a file remained";
  }
};

TEST_F(MergeTest, MergesShardsIntoOneFinishedRun) {
  const auto outcome = must(merge({shard("a", 0, 2, true), shard("b", 1, 2, true)}));
  EXPECT_EQ(outcome.runs, 1U);
  EXPECT_EQ(outcome.trials, 6U);
  EXPECT_EQ(outcome.artefacts_missing, 0U);
  EXPECT_TRUE(outcome.remarks.empty()) << outcome.remarks.front();
  auto db = must(Database::open(output(), Database::Access::read_only));
  auto* handle = db.handle();
  EXPECT_EQ(
      *query_integer(handle,
                     "SELECT count(*) FROM run WHERE digest = '12ab-0/1' AND trials_planned = 6 "
                     "AND finished_at IS NOT NULL"),
      1);
  EXPECT_EQ(*query_integer(handle, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
  // After a merge, the IDs must still link each finding to the state of its trial, each failure to
  // its state, and each bucket to its phase.
  EXPECT_EQ(*query_integer(
                handle,
                "SELECT count(*) FROM finding f JOIN crash_state c ON c.id = f.crash_state_id AND "
                "c.trial_id = f.trial_id JOIN failure x ON x.crash_state_id = c.id "
                "WHERE c.name = 'w24-7' AND c.digest = 8"),
            6);
  EXPECT_EQ(*query_integer(handle,
                           "SELECT count(*) FROM phase p WHERE name = 'workload' AND "
                           "(SELECT sum(count) FROM latency WHERE phase_id = p.id) = 7"),
            6);
  EXPECT_EQ(*query_integer(handle, "SELECT count(*) FROM coverage WHERE bound LIKE '28 of%'"), 6);
  EXPECT_EQ(*query_integer(handle, "SELECT sum(count) FROM step_time"), 120);
  auto path = must(Statement::prepare(handle, "SELECT path FROM artefact ORDER BY id LIMIT 1"));
  ASSERT_TRUE(*path.step());
  EXPECT_TRUE(std::filesystem::exists(output().parent_path() / path.text(0))) << path.text(0);
}

TEST_F(MergeTest, KeepsMeasurementsWithTheirPhase) {
  std::vector<std::filesystem::path> shards;
  for (const int i : {0, 1}) {
    shards.push_back(folder() / (std::to_string(i) + ".db"));
    auto db = must(Database::open(shards.back(), Database::Access::read_write));
    auto run = some_run();
    run.kind = "bench";
    run.digest = "77-" + std::to_string(i) + "/2";
    const auto id = must(db.begin_run(run));
    auto trial = some_bench_trial("ext4/hp-c2447/w/" + std::to_string(i));
    trial.phases.front().measure->elapsed_ms = 1000 * (i + 1);
    trial.phases.front().metrics.front().value = i + 1;
    must(db.record_trial(id, trial));
    must_be(db.finish_run(id));
  }
  EXPECT_EQ(must(merge(shards)).trials, 2U);
  auto db = must(Database::open(output(), Database::Access::read_only));
  EXPECT_EQ(
      *query_integer(
          db.handle(),
          "SELECT count(*) FROM trial t JOIN phase p ON p.trial_id = t.id JOIN measure m ON "
          "m.phase_id = p.id JOIN metric x ON x.phase_id = p.id WHERE x.name LIKE 'hd0%' AND "
          "m.elapsed_ms = 1000 * x.value AND t.key LIKE '%/' || CAST(x.value - 1 AS INTEGER)"),
      2);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM measure"), 4);
  EXPECT_EQ(*query_integer(db.handle(),
                           "SELECT count(*) FROM run WHERE kind = 'bench' AND digest = '77-0/1'"),
            1);
}

TEST_F(MergeTest, CollectsDifferentVersionsInAList) {
  std::vector<std::filesystem::path> shards;
  for (unsigned i = 0; i < 3; ++i) {
    shards.push_back(shard(std::string(1, static_cast<char>('a' + i)), i, 3, true));
    auto db = must(Database::open(shards.back(), Database::Access::read_write));
    must_be(execute(db.handle(),
                    std::string("UPDATE run SET host = 'no json', versions = '{\"qemu\":\"") +
                        (i == 1 ? "8.0" : "7.2") + "\",\"kernel\":\"6.1\"}'"));
  }
  ASSERT_EQ(must(merge(shards)).remarks.size(), 1U);
  auto db = must(Database::open(output(), Database::Access::read_only));
  auto run = must(Statement::prepare(db.handle(), "SELECT versions, host FROM run"));
  ASSERT_TRUE(*run.step());
  EXPECT_EQ(run.text(0), R"({"kernel":"6.1","qemu":["7.2","8.0"]})");
  EXPECT_EQ(run.text(1), "no json");
}

TEST_F(MergeTest, MarksARunWithoutAllShardsAsUnfinished) {
  const auto outcome = must(merge({shard("a", 0, 3, true), shard("c", 2, 3, false)}));
  ASSERT_EQ(outcome.remarks.size(), 1U);
  EXPECT_NE(outcome.remarks[0].find("2 of 3 shards"), std::string::npos) << outcome.remarks[0];
  auto db = must(Database::open(output(), Database::Access::read_write));
  const auto run = must(db.unfinished_run("12ab-0/1"));
  ASSERT_TRUE(run);
  EXPECT_EQ(must(db.finished_trials(*run)).size(), 6U);
  ASSERT_TRUE(db.resume_run(*run, 9));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT trials_planned FROM run"), 9);
}

TEST_F(MergeTest, MergesDuplicateTrialsOnce) {
  const auto outcome = must(merge({shard("a", 0, 1, true), shard("b", 0, 1, true)}));
  EXPECT_EQ(outcome.trials, 3U);
  EXPECT_EQ(outcome.doubled, 3U);
  auto db = must(Database::open(output(), Database::Access::read_only));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM crash_state"), 6);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM run WHERE trials_planned = 3"), 1);
}

TEST_F(MergeTest, KeepsOtherCampaignsAndSecondRunsSeparate) {
  const auto a = shard("a", 0, 1, true);
  const auto again = shard("a", 0, 1, true);  // adds a second run to the same file
  EXPECT_EQ(a, again);
  auto other = must(Database::open(folder() / "o.db", Database::Access::read_write));
  must(other.record_trial(must(other.begin_run(some_run())), some_trial("k")));
  EXPECT_EQ(must(merge({a, folder() / "o.db"})).runs, 3U);
}

/// Adds an experiment with one trial and one claim, as `headcrash experiment --db` stores it.
std::int64_t add_experiment(Database& db, double ours) {
  auto run = some_run();
  run.kind = "experiment";
  run.digest = "experiment-ganger94-1";
  const auto id = must(db.begin_run(run));
  must(db.record_trial(id, some_trial("cell")));
  const experiment::ClaimAnswer answer{.numbers = {{.ours = ours}}};
  EXPECT_TRUE(db.record_claims(id, {&answer, 1}));
  EXPECT_TRUE(db.finish_run(id));
  return id;
}

TEST_F(MergeTest, KeepsRepeatedExperimentsAsTwoRuns) {
  for (const auto& [name, ended] :
       {std::pair("a.db", "2026-01-01"), std::pair("b.db", "2026-01-02")}) {
    auto db = must(Database::open(folder() / name, Database::Access::read_write));
    add_experiment(db, 4);
    ASSERT_TRUE(execute(db.handle(), fmt::format("UPDATE run SET finished_at = '{}'", ended)));
  }
  const auto outcome = must(merge({folder() / "a.db", folder() / "b.db"}));
  EXPECT_EQ(outcome.runs, 2U);
  EXPECT_EQ(outcome.doubled_runs, 0U);
  auto db = must(Database::open(output(), Database::Access::read_only));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(DISTINCT run_id) FROM claim_number"), 2);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(DISTINCT run_id) FROM trial"), 2);
}

TEST_F(MergeTest, MergesCopiesOfAnExperimentOnce) {
  {
    auto db = must(Database::open(folder() / "a.db", Database::Access::read_write));
    add_experiment(db, 4);
  }
  std::filesystem::copy_file(folder() / "a.db", folder() / "b.db");
  const auto outcome = must(merge({folder() / "a.db", folder() / "b.db"}));
  EXPECT_EQ(outcome.runs, 1U);
  EXPECT_EQ(outcome.doubled_runs, 1U);
  EXPECT_EQ(outcome.trials, 1U);
  auto db = must(Database::open(output(), Database::Access::read_only));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM claim_number"), 1);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM phase"), 2);
}

/// Moves this process into a separate mount namespace and, unless it is root, into a new user
/// namespace.
bool enter_own_namespaces() {
  const std::string map = fmt::format("0 {} 1", geteuid());
  if (geteuid() == 0) return unshare(CLONE_NEWNS) == 0;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/uid_map") << map;
  return geteuid() == 0;
}

/// Tries several disk sizes, so that the disk is full at different points of the merge, including
/// the last checkpoint.
TEST_F(MergeTest, ReportsAFullDiskAtEveryPoint) {
  constexpr int kUnsupported = 77, kMerged = 0, kRefused = 1, kBroken = 2;
  const auto input = folder() / "a.db";
  {
    auto db = must(Database::open(input, Database::Access::read_write));
    auto trial = some_trial("big");
    trial.io.resize(5'000, {1.0, 1, 8, "read", 5.0});
    must(db.record_trial(must(db.begin_run(some_run())), trial));
  }
  const auto merge_on_disk_of = [&](int kib) {
    const pid_t pid = fork();
    if (pid != 0) {
      int status = 0;
      waitpid(pid, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : kBroken;
    }
    if (!enter_own_namespaces()) _exit(kUnsupported);
    const auto disk = folder() / "disk";
    std::filesystem::create_directories(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, fmt::format("size={}k", kib).c_str()) != 0)
      _exit(kUnsupported);
    const auto merged = merge_databases({input}, disk / "all.db");
    if (!merged) _exit(std::filesystem::is_empty(disk) ? kRefused : kBroken);
    auto db = Database::open(disk / "all.db", Database::Access::read_only);
    const bool whole = db && *query_integer(db->handle(), "SELECT count(*) FROM io") == 5'000;
    _exit(whole ? kMerged : kBroken);
  };
  std::map<int, int> endings;
  for (int kib = 256; kib <= 1408; kib += 192) {
    const int ending = merge_on_disk_of(kib);
    if (ending == kUnsupported) GTEST_SKIP() << "no tmpfs can be mounted here";
    ASSERT_NE(ending, kBroken) << "of " << kib << " KiB";
    ++endings[ending];
  }
  EXPECT_GT(endings[kMerged], 0);
  EXPECT_GT(endings[kRefused], 0);
}

TEST_F(MergeTest, RejectsContradictoryVerdicts) {
  expect_refused(
      {shard("a", 0, 1, true), shard("b", 0, 1, true, {"replayed", "unmountable", "silent-loss"})},
      "ace-seq1/1 has the verdict unmountable in this database, but replayed in");
}

TEST_F(MergeTest, WritesNothingForUnreadableInput) {
  const auto a = shard("a", 0, 2, true);
  expect_refused({a, folder() / "none.db"}, "none.db");
  expect_refused({a, a}, "twice");
  std::ofstream(folder() / "text.db") << "just a note";
  expect_refused({a, folder() / "text.db"}, "not a database");
  const auto newer = shard("n", 1, 2, true);
  ASSERT_TRUE(execute(must(Database::open(newer, Database::Access::read_write)).handle(),
                      fmt::format("PRAGMA user_version = {}", kSchemaVersion + 1)));
  expect_refused({a, newer}, "newer headcrash");
  const auto older = shard("m", 1, 2, true);
  ASSERT_TRUE(execute(must(Database::open(older, Database::Access::read_write)).handle(),
                      "PRAGMA user_version = 2"));
  expect_refused({a, older}, "older version of headcrash");
}

TEST_F(MergeTest, DoesNotOverwriteAnExistingOutput) {
  const auto a = shard("a", 0, 2, true);
  std::filesystem::create_directories(output().parent_path());
  std::ofstream(output()) << "precious";
  EXPECT_FALSE(merge({a}));
  EXPECT_EQ(contents(output()), "precious");
}

TEST_F(MergeTest, CountsMissingArtefacts) {
  const auto a = shard("a", 0, 1, true);
  std::filesystem::remove(a.parent_path() / "trial-1" / "recording.hcr");
  EXPECT_EQ(must(merge({a})).artefacts_missing, 3U);
}

}  // namespace
}  // namespace headcrash::db
