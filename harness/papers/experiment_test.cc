// Tests parts of the experiment with small trees. Every claim must be answered, and the answers
// must be reproducible.
#include "harness/papers/experiment.h"

#include <gtest/gtest.h>

#include <set>

#include "plugin/base/testing/temporary_folder.h"
#include "results/db/statement.h"

namespace headcrash::experiment {
namespace {

ExperimentOutcome small(const std::string& name) {
  auto outcome = run_experiment({.name = name, .seed = 5, .scaled = true});
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

TEST(Experiment, IsReproducible) {
  for (const char* name : {"ganger94/table2", "ganger94/fsync"}) {
    const ExperimentOutcome first = small(name);
    EXPECT_EQ(first.failed(), 0U) << as_text(first);
    const ExperimentOutcome second = small(name);
    EXPECT_EQ(as_text(first), as_text(second));
    EXPECT_EQ(as_csv(first), as_csv(second));
    EXPECT_EQ(as_json(first).dump(), as_json(second).dump());
  }
}

TEST(Experiment, EveryRowHasANumberOrAReason) {
  for (const char* name : {"ganger94/table1", "ganger94/semantics", "ganger94/lines",
                           "ganger94/cycles", "ganger94/workitems"}) {
    for (const ClaimAnswer& answer : small(name).answers) {
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_TRUE(number.ours.has_value() || !number.remark.empty())
            << answer.id << " " << number.cell;
      EXPECT_FALSE(answer.rules.empty()) << answer.id;
    }
  }
}

TEST(Experiment, RejectsAnUnknownName) {
  const auto outcome = run_experiment({.name = "ganger94/tabel1"});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().message().find("ganger94/table1"), std::string::npos)
      << outcome.error().message();
}

TEST(Experiment, PapersAndPartsHaveUniqueNames) {
  std::set<std::string> names;
  std::size_t parts = 0;
  for (const Paper& paper : papers()) {
    EXPECT_FALSE(paper.parts.empty()) << paper.name;
    EXPECT_EQ(paper.name.find('/'), std::string::npos);
    for (const Part& part : paper.parts) {
      EXPECT_TRUE(names.insert(paper.name + "/" + part.name).second) << part.name;
      EXPECT_GE(part.executions, 1U) << part.name;
      EXPECT_TRUE(part.answer) << part.name;
      ++parts;
    }
  }
  EXPECT_EQ(known_experiments().size(), papers().size() + parts);
}

TEST(Experiment, RejectsAnUnknownParameter) {
  const auto outcome = run_experiment({.name = "ganger94/lines", .parameters = {{"memory-mb", 3}}});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().message().find("memory-mb"), std::string::npos);
}

TEST(Cells, ACellRunsOnceForEachNumberOfExecutions) {
  std::size_t run = 0;
  Cells cells({.verify = false, .on_cell = [&run](const Cell&) { ++run; }});
  cells.executions(2);
  const auto machine = machine_with("ufs", "no-order");
  ASSERT_TRUE(machine);
  const experiment::Setup setup{.name = "no-order", .machine = *machine};
  const timed::Arguments few{{"files", 20}};
  const Cell& twice = cells.get(setup, "create-1k", few);
  ASSERT_TRUE(twice.outcome) << twice.remark;
  EXPECT_EQ(&twice, &cells.get(setup, "create-1k", few));
  EXPECT_EQ(&twice, &cells.get(setup, "create-1k", few, 2));
  EXPECT_EQ(run, 1U);
  const Cell& once = cells.get(setup, "create-1k", few, 1);
  EXPECT_EQ(run, 2U);
  EXPECT_NE(once.key, twice.key);
  EXPECT_EQ(&once, &cells.get(setup, "create-1k", few, 1));
  EXPECT_EQ(run, 2U);
  EXPECT_EQ(twice.executions, 2U);
  EXPECT_GT(twice.outcome->modelled_s, 1.5 * once.outcome->modelled_s);
}

TEST(Experiment, IsStoredWithItsCellsAndClaims) {
  const TemporaryFolder folder;
  auto database = db::Database::open(folder.path() / "x.db", db::Database::Access::read_write);
  ASSERT_TRUE(database.has_value());
  const ExperimentOutcome outcome = small("ganger94/table2");
  const auto run = keep(*database, outcome);
  ASSERT_TRUE(run.has_value()) << run.error().message();
  EXPECT_EQ(*db::query_integer(database->handle(), "SELECT count(*) FROM trial"),
            static_cast<std::int64_t>(outcome.cells.size()));
  EXPECT_GT(
      *db::query_integer(database->handle(), "SELECT count(*) FROM claim_number WHERE ours > 0"),
      10);
  EXPECT_GT(*db::query_integer(database->handle(), "SELECT count(*) FROM claim_rule"), 5);
}

}  // namespace
}  // namespace headcrash::experiment
