#include "results/report/frame/query.h"

#include <gtest/gtest.h>

#include "results/db/statement.h"
#include "results/db/testing/database_fixture.h"
#include "results/report/frame/embedded_text.h"

namespace headcrash::report {
namespace {

class QueryTest : public db::ScratchFolder {};

TEST_F(QueryTest, PrependsTheQueryThatAnotherOneBuildsOn) {
  const auto queries =
      db::must(parse_queries("-- about\n-- name: a\nWITH x AS (SELECT 1 AS n)\n\n"
                             "-- name: b\n-- after: a\nSELECT n FROM x;\n"));
  EXPECT_EQ(queries.at("b"), "WITH x AS (SELECT 1 AS n)\nSELECT n FROM x;");
  EXPECT_FALSE(parse_queries("-- name: b\n-- after: nothing\nSELECT 1;\n"));
  EXPECT_FALSE(parse_queries("-- name: b\nSELECT 1;\n-- name: b\nSELECT 2;\n"));
  EXPECT_TRUE(db::must(parse_queries("")).empty());
}

/// A query that does not match the schema fails.
TEST_F(QueryTest, RunsEveryEmbeddedQuery) {
  auto database = db::must(db::Database::open(file(), db::Database::Access::read_write));
  const auto queries = db::must(parse_queries(embedded_text("queries.sql")));
  EXPECT_GE(queries.size(), 10U);
  for (const auto& [name, sql] : queries) {
    if (!sql.ends_with(';')) continue;  // the text is not a query but a clause that queries share
    const auto table = run_query(database, name, 1);
    EXPECT_TRUE(table) << name << ": " << (table ? "" : table.error().message());
  }
  EXPECT_FALSE(run_query(database, "no-such-query", 1));
}

/// Tests the rule that decides whether a campaign's cells are as expected.
TEST_F(QueryTest, JudgesCellsByAllTheirTrials) {
  auto database = db::must(db::Database::open(file(), db::Database::Access::read_write));
  const auto run = db::must(database.begin_run(db::some_run()));
  int number = 0;
  const auto cell = [&](const std::string& filesystem, const std::string& expected,
                        const std::vector<std::string>& verdicts) {
    for (const auto& verdict : verdicts) {
      auto trial = db::some_trial(std::to_string(number++));
      trial.filesystem = filesystem;
      trial.expected = expected;
      trial.verdict = verdict;
      db::must(database.record_trial(run, trial));
    }
  };
  cell("a", "clean", {"clean", "replayed"});
  cell("b", "clean", {"clean", "repaired-by-fsck", "lost-synced-data"});
  cell("c", "loss", {"silent-loss", "unmountable", "zero-length", "clean", "clean"});
  cell("d", "loss", {"lost-synced-data", "lost-synced-data", "clean", "hang"});
  cell("e", "loss", {"wrong-data", "stale-data"});
  cell("f", "any", {"not-repairable", "oops"});
  const auto table = db::must(run_query(database, "cells", run));
  ASSERT_EQ(table.size(), 6U);
  // c, d and e come first, because they are controls
  const std::vector<std::optional<std::int64_t>> met = {1, 0, 1, 1, 0, std::nullopt};
  const std::vector<std::int64_t> unexpected = {0, 2, 0, 0, 2, 0}, lost = {3, 2, 2, 0, 1, 1},
                                  other = {0, 1, 0, 0, 1, 1};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    EXPECT_EQ(row.maybe_integer("met"), met[i]) << row.text("filesystem");
    EXPECT_EQ(row.integer("unexpected"), unexpected[i]) << row.text("filesystem");
    EXPECT_EQ(row.integer("lost"), lost[i]) << row.text("filesystem");
    EXPECT_EQ(row.integer("other"), other[i]) << row.text("filesystem");
  }
}

}  // namespace
}  // namespace headcrash::report
