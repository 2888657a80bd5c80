#include "results/db/migrations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"

namespace headcrash::db {
namespace {

class MigrationsTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    sqlite3_open(file().c_str(), &handle_);
  }
  void TearDown() override {
    sqlite3_close(handle_);
    ScratchFolder::TearDown();
  }
  sqlite3* handle_ = nullptr;
};

TEST_F(MigrationsTest, VersionsOfEmbeddedFilesHaveNoGaps) {
  const auto known = known_migrations();
  ASSERT_EQ(known.size(), static_cast<std::size_t>(kSchemaVersion));
  for (std::size_t i = 0; i < known.size(); ++i)
    EXPECT_EQ(known[i].version, static_cast<int>(i) + 1);
}

TEST_F(MigrationsTest, MigratesFromAnEmptyFileAndEachOlderVersion) {
  auto migrations = known_migrations();
  EXPECT_EQ(must(inspect(handle_, file(), 1)), FileState::fresh);
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::current);
  const int next = kSchemaVersion + 1;
  migrations.push_back({next, "ALTER TABLE run ADD COLUMN note TEXT;"});
  EXPECT_EQ(must(inspect(handle_, file(), next)), FileState::older);
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  ASSERT_TRUE(migrate(handle_, file(), migrations)) << "a second migration changes nothing";
  EXPECT_EQ(*query_integer(handle_, "PRAGMA user_version"), next);
  EXPECT_EQ(
      *query_integer(handle_, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'note'"),
      1);
}

TEST_F(MigrationsTest, KeepsRowsOfTheFirstSchema) {
  const auto migrations = known_migrations();
  ASSERT_TRUE(migrate(handle_, file(), {migrations.front()}));
  ASSERT_TRUE(execute(
      handle_,
      "INSERT INTO run VALUES (1, 'campaign', 'old', '', 'd', 1, 'then', NULL, 1, '{}', '{}', 'tcg');"
      "INSERT INTO trial VALUES (3, 1, 'k', 'ext4', 'd', 'w', 1, 'real', 'c', 5, NULL, NULL, 9, 'clean', "
      "'clean', 's', 'then', 1.5, 0);"
      "INSERT INTO io VALUES (3, 0.5, 8, 8, 'write', NULL);"));
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  EXPECT_EQ(*query_integer(
                handle_, "SELECT count(*) FROM trial JOIN io ON trial_id = id WHERE io.device = 0"),
            1);
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::current);
}

TEST_F(MigrationsTest, KeepsControlsOfTheSecondSchema) {
  const auto migrations = known_migrations();
  ASSERT_TRUE(migrate(handle_, file(), {migrations[0], migrations[1]}));
  ASSERT_TRUE(execute(
      handle_,
      "INSERT INTO run VALUES (1, 'campaign', 'old', '', 'd', 1, 'then', NULL, 2, '{}', '{}', 'tcg');"
      "INSERT INTO trial VALUES (3, 1, 'k', 'ext4', 'd', 'w', 1, 'real', 'c', 5, NULL, NULL, 9, 'clean', "
      "'clean', 's', 'then', 1.5, 0);"
      "INSERT INTO trial VALUES (4, 1, 'l', 'ext4-nobarrier', 'd', 'w', 1, 'real', 'c', 5, NULL, NULL, 9, "
      "'silent-loss', 'loss', 's', 'then', 1.5, 0);"
      "INSERT INTO finding VALUES (9, 4, 'silent-loss', 'posix', '/f', 'a', 'b');"));
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::older);
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  EXPECT_EQ(
      *query_integer(
          handle_, "SELECT count(*) FROM trial WHERE id = 3 AND control IS NULL AND variant = ''"),
      1);
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM trial WHERE id = 4 AND control = 'lose'"),
            1);
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM finding WHERE crash_state_id IS NULL"),
            1);
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::current);
}

TEST_F(MigrationsTest, BenchmarksOfSchema8HaveNoLoadOrFlushRows) {
  auto migrations = known_migrations();
  const std::vector<Migration> eight(migrations.begin(), migrations.begin() + 8);
  ASSERT_TRUE(migrate(handle_, file(), eight));
  ASSERT_TRUE(execute(
      handle_,
      "INSERT INTO run VALUES (1, 'bench', 'old', '', 'd', 1, 'then', NULL, 2, '{}', '{}', 'tcg');"));
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::older);
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM run"), 1);
  EXPECT_EQ(
      *query_integer(handle_,
                     "SELECT (SELECT count(*) FROM load) + (SELECT count(*) FROM flush_latency)"),
      0);
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::current);
}

TEST_F(MigrationsTest, TrialsOfSchema3BecomeCampaignTrials) {
  const auto migrations = known_migrations();
  ASSERT_TRUE(migrate(handle_, file(), {migrations[0], migrations[1], migrations[2]}));
  ASSERT_TRUE(execute(
      handle_,
      "INSERT INTO run VALUES (1, 'campaign', 'old', '', 'd', 1, 'then', NULL, 1, '{}', '{}', 'tcg');"
      "INSERT INTO trial VALUES (3, 1, 'k', 'ext4', 'd', 'w', 1, 'real', 'c', 5, NULL, NULL, 9, 'clean', "
      "'clean', 's', 'then', 1.5, 0, 'keep', 'prefill');"));
  EXPECT_EQ(must(inspect(handle_, file(), kSchemaVersion)), FileState::older);
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  EXPECT_EQ(*query_integer(
                handle_,
                "SELECT count(*) FROM trial WHERE variant = 'prefill' AND repetition IS NULL AND "
                "parameters = '' AND scale = '' AND host_busy IS NULL"),
            1);
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM measure"), 0);
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

TEST_F(MigrationsTest, KeepsTheVersionWhenAMigrationFails) {
  auto migrations = known_migrations();
  ASSERT_TRUE(migrate(handle_, file(), migrations));
  migrations.push_back(
      {kSchemaVersion + 1, "CREATE TABLE half (x); INSERT INTO no_such_table VALUES (1);"});
  const auto failed = migrate(handle_, file(), migrations);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find(fmt::format("{:04}", kSchemaVersion + 1)),
            std::string::npos)
      << failed.error().message();
  EXPECT_EQ(*query_integer(handle_, "PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(*query_integer(handle_, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
}

TEST_F(MigrationsTest, RejectsAnUnknownVersion) {
  ASSERT_TRUE(migrate(handle_, file(), known_migrations()));
  ASSERT_TRUE(execute(handle_, fmt::format("PRAGMA user_version = {}", kSchemaVersion + 1)));
  const auto refused = inspect(handle_, file(), kSchemaVersion);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find(fmt::format("schema {}", kSchemaVersion + 1)),
            std::string::npos);
}

}  // namespace
}  // namespace headcrash::db
