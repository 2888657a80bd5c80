// Tests database failures: kill -9, two writers, a full disk, a lock that is never released, files
// that are not databases, damaged files and missing permissions.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "results/db/database.h"
#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

class DatabaseFault : public ScratchFolder {
 protected:
  /// Runs `body` in a child process, which exits with the value that `body` returns.
  static pid_t start_child(const std::function<int()>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
      int status = 99;
      try {
        status = body();
      } catch (const std::exception& problem) {
        fprintf(stderr, "child: %s\n", problem.what());
      }
      _exit(status);
    }
    return pid;
  }
  static int exit_status(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void expect_refused_and_untouched(const std::string& bytes, const std::string& reason) {
    std::ofstream(file(), std::ios::binary) << bytes;
    for (const auto access : {Database::Access::read_only, Database::Access::read_write}) {
      const auto refused = Database::open(file(), access);
      ASSERT_FALSE(refused);
      EXPECT_NE(refused.error().message().find(reason), std::string::npos)
          << refused.error().message();
      EXPECT_NE(refused.error().message().find(file().string()), std::string::npos)
          << refused.error().message();
      EXPECT_EQ(contents(file()), bytes);
      EXPECT_FALSE(std::filesystem::exists(file().string() + "-wal"));
    }
  }
  std::string sqlite_file_made_by(const std::string& sql) {
    const auto path = folder() / "other.db";
    sqlite3* raw = nullptr;
    sqlite3_open(path.c_str(), &raw);
    sqlite3_exec(raw, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(raw);
    return contents(path);
  }
};

/// Processes are killed at random points of their work, and the next process resumes this work.
/// Every trial must exist exactly once, with all its rows.
TEST_F(DatabaseFault, Kill9NeitherLosesNorDuplicatesFinishedTrials) {
  constexpr int kTrials = 60;
  const auto campaign = [&] {
    auto db = must(Database::open(file(), Database::Access::read_write));
    auto run = must(db.unfinished_run("abc"));
    if (!run) run = must(db.begin_run(some_run()));
    const auto finished = must(db.finished_trials(*run));
    for (int i = 0; i < kTrials; ++i) {
      auto trial = some_trial("trial-" + std::to_string(i));
      if (finished.contains(trial.key)) continue;
      trial.io.resize(200, {1.0, 1, 8, "read", 5.0});
      must(db.record_trial(*run, trial));
    }
    return 0;
  };
  std::size_t before = 0;
  bool done = false;
  for (int round = 0; round < 200 && !done; ++round) {
    const pid_t child = start_child(campaign);
    usleep(static_cast<useconds_t>(3000 + 1700 * (round % 9)));
    kill(child, SIGKILL);
    done = exit_status(child) == 0;
    if (!std::filesystem::exists(file())) continue;
    auto db = must(Database::open(file(), Database::Access::read_write));
    const auto run = must(db.unfinished_run("abc"));
    if (!run) continue;
    const auto now = must(db.finished_trials(*run)).size();
    EXPECT_GE(now, before);
    before = now;
  }
  if (!done) {
    ASSERT_EQ(exit_status(start_child(campaign)), 0);
  }
  auto db = must(Database::open(file(), Database::Access::read_write));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM run"), 1);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM trial"), kTrials);
  EXPECT_EQ(*query_integer(db.handle(),
                           "SELECT count(*) FROM trial t WHERE "
                           "(SELECT count(*) FROM io WHERE trial_id = t.id) = 200 AND "
                           "(SELECT count(*) FROM phase WHERE trial_id = t.id) = 2 AND "
                           "(SELECT count(*) FROM artefact WHERE trial_id = t.id) = 1"),
            kTrials);
}

TEST_F(DatabaseFault, TwoProcessesCreateAndFillOneFile) {
  const auto writer = [&](const std::string& name) {
    auto db = must(Database::open(file(), Database::Access::read_write));
    auto run = some_run();
    run.digest = name;
    const auto id = must(db.begin_run(run));
    for (int i = 0; i < 40; ++i) must(db.record_trial(id, some_trial(std::to_string(i))));
    return db.finish_run(id) ? 0 : 1;
  };
  const pid_t one = start_child([&] { return writer("one"); });
  const pid_t two = start_child([&] { return writer("two"); });
  EXPECT_EQ(exit_status(one), 0);
  EXPECT_EQ(exit_status(two), 0);
  auto db = must(Database::open(file(), Database::Access::read_only));
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM trial"), 80);
  EXPECT_EQ(*query_integer(db.handle(), "SELECT count(*) FROM run WHERE finished_at IS NOT NULL"),
            2);
}

TEST_F(DatabaseFault, AFullDiskIsReportedWithoutDataLoss) {
  auto db = must(Database::open(file(), Database::Access::read_write));
  const auto run = must(db.begin_run(some_run()));
  must(db.record_trial(run, some_trial("first")));
  const auto pages = *query_integer(db.handle(), "PRAGMA page_count");
  ASSERT_TRUE(execute(db.handle(), "PRAGMA max_page_count = " + std::to_string(pages + 2)));
  auto big = some_trial("second");
  big.io.resize(5000, {1.0, 1, 8, "read", 5.0});
  const auto refused = db.record_trial(run, big);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("no space is left"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(must(db.finished_trials(run)), std::set<std::string>{"first"});
}

TEST_F(DatabaseFault, ALockThatIsNeverReleasedIsReported) {
  auto holder = must(Database::open(file(), Database::Access::read_write));
  auto db = must(Database::open(file(), Database::Access::read_write));
  auto held = must(Transaction::begin(holder.handle()));
  sqlite3_busy_timeout(db.handle(), 20);
  const auto refused = db.record_trial(1, some_trial("k"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("locked by another process"), std::string::npos)
      << refused.error().message();
}

TEST_F(DatabaseFault, RejectsAFileThatIsNotADatabase) {
  expect_refused_and_untouched("just a note\n", "is not a database");
  expect_refused_and_untouched(std::string(10'000, 'x'), "is not a database");
}

TEST_F(DatabaseFault, RejectsADatabaseOfAnotherProgram) {
  expect_refused_and_untouched(
      sqlite_file_made_by("CREATE TABLE photos (name TEXT); PRAGMA user_version = 1;"),
      "another program");
}

TEST_F(DatabaseFault, RejectsADatabaseOfANewerVersion) {
  {
    must(Database::open(file(), Database::Access::read_write));
  }
  sqlite3* raw = nullptr;
  sqlite3_open(file().c_str(), &raw);
  sqlite3_exec(raw, "PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;", nullptr, nullptr,
               nullptr);
  sqlite3_close(raw);
  expect_refused_and_untouched(contents(file()), "newer headcrash");
}

TEST_F(DatabaseFault, RejectsADamagedFile) {
  {
    auto db = must(Database::open(file(), Database::Access::read_write));
    const auto run = must(db.begin_run(some_run()));
    auto trial = some_trial("k");
    trial.io.resize(5000, {1.0, 1, 8, "read", 5.0});
    must(db.record_trial(run, trial));
    ASSERT_TRUE(execute(db.handle(), "PRAGMA journal_mode = DELETE"));
  }
  const std::string whole = contents(file());
  std::string holed = whole;
  for (std::size_t page = 8; page < 24; ++page) holed.replace(page * 4096, 64, 64, '\x5a');
  expect_refused_and_untouched(holed, "is damaged");
  expect_refused_and_untouched(whole.substr(0, whole.size() / 2), "is damaged");
}

TEST_F(DatabaseFault, OnlyAWriterAcceptsAnEmptyFileAsANewDatabase) {
  std::ofstream(file()).flush();
  EXPECT_FALSE(Database::open(file(), Database::Access::read_only));
  EXPECT_TRUE(Database::open(file(), Database::Access::read_write));
}

TEST_F(DatabaseFault, RejectsAFolder) {
  EXPECT_FALSE(Database::open(folder(), Database::Access::read_write));
  std::ofstream(folder() / "plain").flush();
  const auto below_a_file =
      Database::open(folder() / "plain" / "r.db", Database::Access::read_write);
  ASSERT_FALSE(below_a_file);
  EXPECT_FALSE(below_a_file.error().hint.empty());
}

/// A child process without root's privileges opens a read-only file in a read-only directory.
TEST_F(DatabaseFault, WorksReadOnlyWithoutPermissionToWrite) {
  {
    auto db = must(Database::open(file(), Database::Access::read_write));
    must(db.record_trial(must(db.begin_run(some_run())), some_trial("k")));
  }
  chmod(file().c_str(), 0444);
  chmod(folder().c_str(), 0555);
  const auto before = contents(file());
  const pid_t child = start_child([&] {
    if (geteuid() == 0 && seteuid(65534) != 0) return 2;
    auto reader = Database::open(file(), Database::Access::read_only);
    if (!reader) fprintf(stderr, "%s\n", reader.error().message().c_str());
    if (!reader || must(reader->finished_trials(1)).size() != 1) return 3;
    const auto writer = Database::open(file(), Database::Access::read_write);
    if (writer) return 4;
    fprintf(stderr, "%s\n", writer.error().message().c_str());
    return writer.error().message().find("cannot be written") == std::string::npos ? 5 : 0;
  });
  EXPECT_EQ(exit_status(child), 0);
  EXPECT_EQ(contents(file()), before);
  chmod(folder().c_str(), 0755);
}

}  // namespace
}  // namespace headcrash::db
