#include "results/db/database.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

class DatabaseTest : public ScratchFolder {};

TEST_F(DatabaseTest, CreatesFileAndFolderInWalModeWithForeignKeys) {
  auto db = must(Database::open(folder() / "new" / "deep" / "r.db", Database::Access::read_write));
  EXPECT_EQ(*query_integer(db.handle(), "PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(*query_integer(db.handle(), "PRAGMA foreign_keys"), 1);
  EXPECT_EQ(*query_integer(db.handle(), "PRAGMA synchronous"), 2)
      << "FULL: a recorded trial survives a power cut";
  auto mode = must(Statement::prepare(db.handle(), "PRAGMA journal_mode"));
  ASSERT_TRUE(*mode.step());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST_F(DatabaseTest, ATrialRoundTripsWithAllItsParts) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  const auto id = must(db.record_trial(run, some_trial("ext4/d/w/0")));
  auto* handle = db.handle();
  EXPECT_EQ(*query_integer(handle, "SELECT count(*) FROM phase"), 2);
  EXPECT_EQ(
      *query_integer(handle,
                     "SELECT count(*) FROM phase WHERE lateness_max_us = 40 AND exit_code IS NULL"),
      1);
  EXPECT_EQ(*query_integer(
                handle, "SELECT count(*) FROM phase WHERE target_p50_us IS NULL AND exit_code = 1"),
            1);
  EXPECT_EQ(*query_integer(handle, "SELECT sum(count) FROM latency WHERE kind = 'target'"), 7);
  EXPECT_EQ(*query_integer(handle, "SELECT device FROM io WHERE response_us IS NULL"), 1);
  EXPECT_EQ(*query_integer(handle,
                           "SELECT count(*) FROM incident JOIN device USING (trial_id) "
                           "WHERE incident.device = ordinal AND parent = 0 AND text = 'dead'"),
            1);
  EXPECT_EQ(*query_integer(handle, "SELECT flushes FROM device_phase WHERE name = 'hd0.0'"), 3);
  EXPECT_EQ(
      *query_integer(handle, "SELECT count(*) FROM finding WHERE trial_id = " + std::to_string(id)),
      1);
  EXPECT_EQ(
      *query_integer(handle, "SELECT bytes FROM artefact WHERE path = 'trial-1/recording.hcr'"),
      4096);
  EXPECT_EQ(
      *query_integer(
          handle, "SELECT count(*) FROM trial WHERE persisted_operation IS NULL AND cut_at_ns = 5"),
      1);
}

TEST_F(DatabaseTest, AnExploredTrialRoundTripsWithItsStates) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  auto trial = some_explored_trial("ext4/stage/ace-seq1/17");
  trial.control = "keep";
  trial.variant = "write-through";
  must(db.record_trial(run, trial));
  auto* handle = db.handle();
  EXPECT_EQ(*query_integer(
                handle,
                "SELECT count(*) FROM trial WHERE control = 'keep' AND variant = 'write-through'"),
            1);
  EXPECT_EQ(*query_integer(handle, "SELECT sum(checked) FROM coverage WHERE space >= 12"), 10);
  EXPECT_EQ(*query_integer(handle,
                           "SELECT count FROM step_time WHERE step = 'mount' AND total_ms = 120.5"),
            10);
  EXPECT_EQ(*query_integer(handle, "SELECT digest FROM crash_state WHERE name = 'w20-'"), -16);
  EXPECT_EQ(
      *query_integer(
          handle,
          "SELECT count(*) FROM failure x JOIN crash_state c ON c.id = x.crash_state_id "
          "JOIN finding f ON f.crash_state_id = c.id "
          "WHERE c.persisted_operation = 3 AND c.in_guest AND f.tier = 'posix' AND x.confirmed"),
      1);
}

TEST_F(DatabaseTest, ABenchmarkTrialRoundTripsWithItsMeasurements) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  must(db.record_trial(run, some_bench_trial("ext4/hp-c2447/lfs-small-file/1")));
  auto* handle = db.handle();
  EXPECT_EQ(
      *query_integer(handle,
                     "SELECT count(*) FROM trial WHERE repetition = 1 AND host_busy = 0.25 AND "
                     "parameters = 'files=1000 users=4' AND scale = 'scaled' AND cut = ''"),
      1);
  EXPECT_EQ(
      *query_integer(
          handle,
          "SELECT guest_writes * 1000 + guest_merges FROM measure JOIN phase ON id = phase_id "
          "WHERE label = 'create' AND measured AND quiescent_ms = 1500 AND ordinal = 0 AND "
          "device_busy_ms = 900 AND guest_busy_ms = 880 AND operations = 1000"),
      200'017);
  EXPECT_EQ(*query_integer(
                handle, "SELECT count(*) FROM measure WHERE NOT measured AND quiescent_ms IS NULL"),
            1);
  EXPECT_EQ(*query_integer(handle, "SELECT value FROM metric WHERE name = 'hd0.nvram.dirty_hits'"),
            12);
  EXPECT_EQ(*query_integer(handle, "SELECT sum(count) * 10000 + max(upper_us) FROM flush_latency"),
            31'800);
  EXPECT_EQ(*query_integer(handle, "SELECT count(*) FROM load"), 2) << "only of measured phases";
  EXPECT_EQ(*query_integer(
                handle,
                "SELECT bytes_read * 100 + flushes FROM load WHERE begin_ms = 1 AND end_ms = 2 "
                "AND bytes_written = 0 AND inside = 2.25"),
            51'203);
}

TEST_F(DatabaseTest, AnInvalidMetricRollsBackTheTrial) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  auto trial = some_bench_trial("k");
  trial.phases.back().metrics = {{"twice", "", 1}, {"twice", "", 2}};
  EXPECT_FALSE(db.record_trial(run, trial));
  for (const char* table : {"trial", "phase", "measure", "metric"})
    EXPECT_EQ(*query_integer(db.handle(), std::string("SELECT count(*) FROM ") + table), 0)
        << table;
  trial.phases.back().metrics.clear();
  trial.scale = "small";
  EXPECT_FALSE(db.record_trial(run, trial)) << "no such scale";
}

TEST_F(DatabaseTest, AnInvalidStateRollsBackTheTrial) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  auto trial = some_explored_trial("k");
  trial.states.push_back(trial.states.front());  // a second state with the same name
  EXPECT_FALSE(db.record_trial(run, trial));
  for (const char* table :
       {"trial", "coverage", "step_time", "crash_state", "finding", "failure"}) {
    EXPECT_EQ(*query_integer(db.handle(), std::string("SELECT count(*) FROM ") + table), 0)
        << table;
  }
  trial.states.pop_back();
  trial.control = "win";
  EXPECT_FALSE(db.record_trial(run, trial)) << "no such control";
}

TEST_F(DatabaseTest, ResumeFindsTheNewestUnfinishedRunOfTheSameDigest) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  EXPECT_FALSE(must(db.unfinished_run("abc")).has_value());
  const auto first = must(db.begin_run(some_run()));
  const auto second = must(db.begin_run(some_run()));
  EXPECT_EQ(must(db.unfinished_run("abc")), second);
  must(db.record_trial(second, some_trial("a")));
  must(db.record_trial(second, some_trial("b")));
  EXPECT_EQ(must(db.finished_trials(second)), (std::set<std::string>{"a", "b"}));
  EXPECT_TRUE(must(db.finished_trials(first)).empty());
  ASSERT_TRUE(db.finish_run(second));
  EXPECT_EQ(must(db.unfinished_run("abc")), first);
  EXPECT_EQ(must(db.newest_run("campaign")), second);
  EXPECT_FALSE(must(db.newest_run("bench")).has_value());
  EXPECT_FALSE(db.finish_run(999));
}

TEST_F(DatabaseTest, ForgettingTrialsMakesTheRunUnfinished) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  must(db.record_trial(run, some_trial("a")));
  auto broken = some_explored_trial("b");
  broken.verdict = "harness-error";
  must(db.record_trial(run, broken));
  ASSERT_TRUE(db.finish_run(run));
  EXPECT_EQ(must(db.newest_run_of("abc")), run);
  EXPECT_FALSE(must(db.newest_run_of("other")).has_value());
  EXPECT_EQ(must(db.forget_trials(run, "harness-error")), 1);
  EXPECT_EQ(must(db.finished_trials(run)), std::set<std::string>{"a"});
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM crash_state"), 0)
      << "its rows must be deleted with it";
  EXPECT_EQ(must(db.unfinished_run("abc")), run);
  ASSERT_TRUE(db.finish_run(run));
  EXPECT_EQ(must(db.forget_trials(run, "harness-error")), 0);
  EXPECT_FALSE(must(db.unfinished_run("abc")).has_value()) << "nothing must be left to do";
}

TEST_F(DatabaseTest, AnInvalidRowInTheMiddleRollsBackTheTrial) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  auto trial = some_trial("ext4/d/w/0");
  trial.findings.push_back({"wrong-data", "no such tier", "/x", "a", "b"});
  const auto refused = db.record_trial(run, trial);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("ext4/d/w/0"), std::string::npos)
      << refused.error().message();
  for (const char* table : {"trial", "device", "incident", "phase", "device_phase", "latency", "io",
                            "finding", "artefact"}) {
    EXPECT_EQ(*query_integer(db.handle(), std::string("SELECT count(*) FROM ") + table), 0)
        << table;
  }
  must(db.record_trial(run, some_trial("ext4/d/w/0")));  // the database is still usable
}

TEST_F(DatabaseTest, RejectsADuplicateTrialAndATrialOfAMissingRun) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  must(db.record_trial(run, some_trial("k")));
  EXPECT_FALSE(db.record_trial(run, some_trial("k")));
  EXPECT_FALSE(db.record_trial(run + 1, some_trial("k")));
  EXPECT_EQ(must(db.finished_trials(run)).size(), 1U);
}

TEST_F(DatabaseTest, ReadOnlyAccessRequiresAFileAndCannotWrite) {
  const auto missing = Database::open(file(), Database::Access::read_only);
  ASSERT_FALSE(missing);
  EXPECT_FALSE(std::filesystem::exists(file()));
  {
    must(must(Database::open(file(), Database::Access::read_write)).begin_run(some_run()));
  }
  auto db = must(Database::open(file(), Database::Access::read_only));
  const auto refused = db.begin_run(some_run());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("cannot be written"), std::string::npos)
      << refused.error().message();
}

TEST_F(DatabaseTest, AReaderSeesAConsistentStateDuringAWrite) {
  auto writer = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(writer.begin_run(some_run()));
  auto reader = must(Database::open(file(), Database::Access::read_only));
  auto transaction = must(Transaction::begin(writer.handle()));
  EXPECT_TRUE(must(reader.finished_trials(run)).empty());
}

}  // namespace
}  // namespace headcrash::db
