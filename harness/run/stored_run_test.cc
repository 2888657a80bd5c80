// Tests that runs are created and found again, and that at most one process executes a run at a
// time.
#include "harness/run/stored_run.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::run {
namespace {

class StoredRunTest : public testing::Test {
 protected:
  StoredRunTest()
      : database_(db::Database::open(folder_ / "r.db", db::Database::Access::read_write).value()) {}

  Result<StoredRun> open(RunPlan plan) {
    plan.kind = "campaign";
    plan.name = plan.configuration = plan.digest = "c";
    plan.trials = 3;
    return open_run(database_, plan);
  }
  StoredRun opened(const RunPlan& plan) {
    auto run = open(plan);
    if (!run) throw std::runtime_error(run.error().message());
    return std::move(*run);
  }
  void record(std::int64_t run, const std::string& key, const std::string& verdict) {
    const auto recorded = database_.record_trial(run, {.key = key,
                                                       .filesystem = "f",
                                                       .device = "d",
                                                       .workload = "w",
                                                       .clock = "off",
                                                       .verdict = verdict,
                                                       .expected = "clean",
                                                       .started_at = "now"});
    ASSERT_TRUE(recorded) << recorded.error().message();
  }

  /// Not locked by the test, because Database::open() locks this directory.
  TemporaryFolder folder_;
  db::Database database_;
};

TEST_F(StoredRunTest, TwoProcessesCannotExecuteOneRun) {
  {
    const StoredRun run = opened({});
    EXPECT_EQ(run.id, 1);
    for (const RunPlan& plan : {RunPlan{.resume = true}, RunPlan{.redo_errors = true}}) {
      const auto second = open(plan);
      ASSERT_FALSE(second);
      EXPECT_NE(second.error().message().find("run 1: is being executed by process"),
                std::string::npos)
          << second.error().message();
    }
  }
  EXPECT_EQ(opened({.resume = true}).id, 1) << "the owner has ended";
}

TEST_F(StoredRunTest, NewRunsAndOtherShardsAreIndependent) {
  const StoredRun first = opened({.shard = {0, 2}});
  const StoredRun second = opened({.shard = {1, 2}, .resume = true});
  const StoredRun third = opened({.shard = {0, 2}});
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(second.id, 2);
  EXPECT_EQ(third.id, 3);
}

TEST_F(StoredRunTest, RefusesToRedoErrorsOfARunningRun) {
  const StoredRun run = opened({});
  record(run.id, "a", "harness-error");
  ASSERT_FALSE(open({.redo_errors = true}));
  EXPECT_EQ(database_.finished_trials(run.id)->size(), 1);
}

TEST_F(StoredRunTest, FindsAFinishedRunAndReportsIt) {
  {
    const StoredRun run = opened({});
    record(run.id, "a", "clean");
    ASSERT_TRUE(database_.finish_run(run.id));
  }
  const StoredRun again = opened({.resume = true});
  EXPECT_EQ(again.id, 1);
  EXPECT_TRUE(again.finished_before);
  EXPECT_EQ(again.finished, std::set<std::string>{"a"});
  EXPECT_FALSE(*database_.unfinished_run("c-0/1"));
  const StoredRun fresh = opened({});
  EXPECT_EQ(fresh.id, 2);
  EXPECT_FALSE(fresh.finished_before);
}

TEST_F(StoredRunTest, PrefersAnUnfinishedRunToALaterFinishedOne) {
  opened({});
  ASSERT_TRUE(database_.finish_run(opened({}).id));
  const StoredRun again = opened({.resume = true});
  EXPECT_EQ(again.id, 1);
  EXPECT_FALSE(again.finished_before);
}

TEST_F(StoredRunTest, RedoesErrorsOfTheNewestRun) {
  {
    const StoredRun run = opened({});
    record(run.id, "a", "clean");
    record(run.id, "b", "harness-error");
    ASSERT_TRUE(database_.finish_run(run.id));
  }
  {
    const StoredRun again = opened({.redo_errors = true});
    EXPECT_EQ(again.id, 1);
    EXPECT_FALSE(again.finished_before);
    EXPECT_EQ(again.finished, std::set<std::string>{"a"});
    ASSERT_TRUE(database_.finish_run(again.id));
  }
  EXPECT_FALSE(open({.redo_errors = true})) << "no trial needs a repetition";
}

}  // namespace
}  // namespace headcrash::run
