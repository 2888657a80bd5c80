// Tests which artefacts gc removes and, above all, which artefacts it must not remove.
#include "results/db/gc.h"

#include <gtest/gtest.h>

#include <fstream>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNow = "2026-03-01T00:00:00Z";

class GcTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    fs::create_directories(home());
    database_.emplace(must(Database::open(home() / "results.db", Database::Access::read_write)));
    run_ = must(database_->begin_run(some_run()));
  }
  fs::path home() const { return folder() / "home"; }

  /// Records a trial with one artefact at `path`, relative to the database's directory.
  void trial(const std::string& key, const std::string& path,
             const std::string& started = "2026-01-01T00:00:00Z",
             const std::string& verdict = "replayed") {
    TrialRecord record = some_trial(key);
    record.started_at = started;
    record.verdict = verdict;
    record.artefacts = {{"recording", path, 5}};
    must(database_->record_trial(run_, record));
  }
  static void file(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "bytes";
  }
  GcOutcome gc(GcOptions options = {}) {
    options.now = kNow;
    return must(collect_garbage(*database_, options));
  }
  std::int64_t rows() {
    return must(query_integer(database_->handle(), "SELECT count(*) FROM artefact"));
  }

  std::optional<Database> database_;
  std::int64_t run_ = 0;
};

TEST_F(GcTest, RemovesOldFilesWithTheirRowsAndEmptyFolders) {
  file(home() / "results.artefacts/run-1/old/recording.hcrec");
  file(home() / "results.artefacts/run-1/young/recording.hcrec");
  trial("old", "results.artefacts/run-1/old/recording.hcrec");
  trial("young", "results.artefacts/run-1/young/recording.hcrec", "2026-02-20T00:00:00Z");
  const auto told = gc({.dry_run = true});
  EXPECT_EQ(told.removed, 1U);
  EXPECT_EQ(told.bytes, 5);
  EXPECT_EQ(rows(), 2) << "a dry run must only report";
  EXPECT_TRUE(fs::exists(home() / "results.artefacts/run-1/old/recording.hcrec"));
  const auto done = gc();
  EXPECT_EQ(done.removed, 1U);
  EXPECT_EQ(done.kept, 1U);
  EXPECT_EQ(done.bytes, 5);
  EXPECT_TRUE(done.refused.empty());
  EXPECT_EQ(rows(), 1);
  EXPECT_FALSE(fs::exists(home() / "results.artefacts/run-1/old"));
  EXPECT_TRUE(fs::exists(home() / "results.artefacts/run-1/young/recording.hcrec"));
  EXPECT_EQ(must(query_integer(database_->handle(), "SELECT count(*) FROM trial")), 2)
      << "trials must stay";
  EXPECT_EQ(gc({.older_than_days = 0}).removed, 1U);
  EXPECT_FALSE(fs::exists(home() / "results.artefacts"));
  EXPECT_TRUE(fs::exists(home() / "results.db"));
}

TEST_F(GcTest, KeepsFailuresOnRequest) {
  for (const char* key : {"lost", "measured", "failed"}) {
    const std::string path = std::string("results.artefacts/") + key;
    file(home() / path);
    trial(key, path, "2026-01-01T00:00:00Z", std::string(key) == "lost" ? "silent-loss" : key);
  }
  TrialRecord explored = some_explored_trial("explored");
  explored.verdict = "replayed";
  explored.artefacts = {{"recording", "results.artefacts/explored", 5}};
  must(database_->record_trial(run_, explored));
  file(home() / "results.artefacts/explored");
  EXPECT_EQ(gc({.keep_failures = true}).removed, 1U);
  EXPECT_FALSE(fs::exists(home() / "results.artefacts/measured"));
  EXPECT_EQ(gc().removed, 3U);
}

TEST_F(GcTest, RemovesNoFilesOutsideTheDatabasesFolder) {
  const fs::path victim = folder() / "victim";
  file(victim);
  file(folder() / "elsewhere.artefacts/victim");
  file(home() / "results.artefacts/inside");
  file(home() / "notes.txt");
  fs::create_symlink(folder() / "elsewhere.artefacts", home() / "linked.artefacts");
  fs::create_symlink(victim, home() / "results.artefacts/link");
  fs::create_symlink("..", home() / "results.artefacts/up");
  fs::create_directories(home() / "results.artefacts/folder");
  const std::vector<std::string> hostile = {"../victim",
                                            "../elsewhere.artefacts/victim",
                                            "results.artefacts/../../victim",
                                            "results.artefacts/../notes.txt",
                                            victim.string(),
                                            "//" + victim.string(),
                                            "linked.artefacts/victim",
                                            "results.artefacts/link",
                                            "results.artefacts/up/notes.txt",
                                            "results.artefacts/folder",
                                            "results.artefacts/",
                                            "results.artefacts/inside/",
                                            "notes.txt",
                                            "results.db",
                                            "",
                                            ".",
                                            ".."};
  for (std::size_t i = 0; i < hostile.size(); ++i) trial("hostile" + std::to_string(i), hostile[i]);
  const auto outcome = gc({.older_than_days = 0});
  EXPECT_EQ(outcome.removed, 0U);
  EXPECT_EQ(outcome.refused.size(), hostile.size());
  for (const auto& refused : outcome.refused) EXPECT_FALSE(refused.why.empty()) << refused.path;
  EXPECT_EQ(rows(), static_cast<std::int64_t>(hostile.size()))
      << "rejected files must not be changed";
  for (const fs::path& path :
       {victim, folder() / "elsewhere.artefacts/victim", home() / "results.artefacts/inside",
        home() / "results.artefacts/link", home() / "notes.txt", home() / "results.db"})
    EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(GcTest, RemovesRowsOfMissingFilesAndKeepsFilesOfNewerRows) {
  trial("gone", "results.artefacts/run-1/gone");
  file(home() / "results.artefacts/shared");
  trial("old", "results.artefacts/shared");
  trial("young", "results.artefacts/./shared", "2026-02-28T00:00:00Z");
  const auto outcome = gc();
  EXPECT_EQ(outcome.removed, 2U);
  EXPECT_EQ(outcome.missing, 1U);
  EXPECT_EQ(outcome.bytes, 0);
  EXPECT_EQ(rows(), 1);
  EXPECT_TRUE(fs::exists(home() / "results.artefacts/shared"));
}

TEST_F(GcTest, KeepsTrialsWithoutAValidDateAndRejectsAnInvalidCurrentDate) {
  file(home() / "results.artefacts/x");
  trial("x", "results.artefacts/x", "yesterday");
  EXPECT_EQ(gc().kept, 1U);
  EXPECT_FALSE(collect_garbage(*database_, {.now = "tomorrow"}));
}

}  // namespace
}  // namespace headcrash::db
