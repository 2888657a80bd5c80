#include "results/report/frame/sql.h"

#include <gtest/gtest.h>

#include "results/db/testing/database_fixture.h"

namespace headcrash::report {
namespace {

constexpr std::size_t kRowsMost = 100;

class SqlTest : public db::ScratchFolder {
 protected:
  void SetUp() override {
    db::ScratchFolder::SetUp();
    auto database = db::must(db::Database::open(file(), db::Database::Access::read_write));
    const auto run = db::must(database.begin_run(db::some_run()));
    db::must(database.record_trial(run, db::some_trial("first")));
    db::must(database.record_trial(run, db::some_trial("second")));
  }
  db::Database open() {
    return db::must(db::Database::open(file(), db::Database::Access::read_only));
  }
};

TEST_F(SqlTest, AnswersStatementsAndNamedQueries) {
  auto database = open();
  const auto keys = db::must(ask(
      database, "SELECT key, NULL AS n FROM trial WHERE run_id = :run ORDER BY 1", {}, kRowsMost));
  EXPECT_EQ(as_csv(keys), "key,n\r\nfirst,\r\nsecond,\r\n");
  EXPECT_EQ(as_table(keys), "key     n\n------  -\nfirst\nsecond\n");
  EXPECT_EQ(as_json(keys).substr(0, 36), "[\n  {\n    \"key\": \"first\",\n    \"n\": n");
  EXPECT_EQ(db::must(ask(database, "trials", {}, kRowsMost)).rows.size(), 2U);
  EXPECT_TRUE(db::must(ask(database, "trials", 77, kRowsMost)).rows.empty());
  const auto one = db::must(ask(database, "SELECT key FROM trial", {}, 1));
  EXPECT_EQ(one.rows.size(), 1U);
  EXPECT_TRUE(one.cut);
  for (const std::string& name : query_names())
    EXPECT_TRUE(ask(database, name, {}, kRowsMost)) << name;
}

/// Only queries are accepted, even on a writable connection.
TEST_F(SqlTest, RejectsStatementsOtherThanQueries) {
  auto database = db::must(db::Database::open(file(), db::Database::Access::read_write));
  const std::string other = (folder() / "other.db").string();
  for (const std::string& sql :
       {std::string("DELETE FROM trial"), std::string("INSERT INTO run DEFAULT VALUES"),
        std::string("CREATE TABLE x (y)"), std::string("PRAGMA user_version = 9"),
        std::string("PRAGMA journal_mode = DELETE"), "ATTACH '" + other + "' AS o",
        "VACUUM INTO '" + other + "'", std::string("SELECT 1; DELETE FROM trial"),
        std::string("SELEC 1"), std::string("BEGIN")}) {
    const auto answer = ask(database, sql, {}, kRowsMost);
    EXPECT_FALSE(answer) << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(
      db::must(ask(database, "SELECT count(*) AS n FROM trial; -- all", {}, kRowsMost)).rows.size(),
      1U);
  db::must(database.begin_run(db::some_run()));  // afterwards, the connection is writable again
}

TEST_F(SqlTest, ListsTablesAndQueries) {
  auto database = open();
  const std::string text = as_csv(db::must(tables(database)));
  EXPECT_NE(text.find("trial,\"id, run_id, key"), std::string::npos) << text;
}

TEST_F(SqlTest, QuotesCsvValues) {
  auto database = open();
  const auto odd = db::must(ask(database, "SELECT 'a,\"b\"' AS x, 1.5 AS y", {}, kRowsMost));
  EXPECT_EQ(as_csv(odd), "x,y\r\n\"a,\"\"b\"\"\",1.5\r\n");
  const auto wide =
      db::must(ask(database, "SELECT replace(hex(zeroblob(100)), '0', 'ä') AS x", {}, kRowsMost));
  EXPECT_LT(as_table(wide).size(), 300U);
}

}  // namespace
}  // namespace headcrash::report
