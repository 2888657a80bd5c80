// Parts of the experiment with small trees: everything is answered, twice the same.
#include "harness/experiment/experiment.h"

#include <gtest/gtest.h>

#include "plugin/base/testing/temporary_folder.h"
#include "results/db/statement.h"

namespace headcrash::experiment {
namespace {

ExperimentOutcome small(const std::string& name) {
  auto outcome = run_experiment({.name = name, .seed = 5, .scaled = true});
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().message());
  return *std::move(outcome);
}

TEST(Experiment, SaysTheSameTwice) {
  for (const char* name : {"ganger94/table2", "ganger94/fsync"}) {
    const ExperimentOutcome first = small(name);
    EXPECT_EQ(first.failed(), 0U) << as_text(first);
    const ExperimentOutcome second = small(name);
    EXPECT_EQ(as_text(first), as_text(second));
    EXPECT_EQ(as_csv(first), as_csv(second));
    EXPECT_EQ(as_json(first).dump(), as_json(second).dump());
  }
}

TEST(Experiment, EveryRowHasANumberOrSaysWhyNot) {
  for (const char* name :
       {"ganger94/table1", "ganger94/semantics", "ganger94/lines", "ganger94/cycles", "ganger94/workitems"}) {
    for (const ClaimAnswer& answer : small(name).answers) {
      for (const ClaimNumber& number : answer.numbers)
        EXPECT_TRUE(number.ours.has_value() || !number.remark.empty()) << answer.id << " " << number.cell;
      EXPECT_FALSE(answer.rules.empty()) << answer.id;
    }
  }
}

TEST(Experiment, RefusesAnUnknownName) {
  const auto outcome = run_experiment({.name = "ganger94/tabel1"});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_NE(outcome.error().message().find("ganger94/table1"), std::string::npos)
      << outcome.error().message();
}

TEST(Experiment, IsKeptWithItsCellsAndClaims) {
  const TemporaryFolder folder;
  auto database = db::Database::open(folder.path() / "x.db", db::Database::Access::read_write);
  ASSERT_TRUE(database.has_value());
  const ExperimentOutcome outcome = small("ganger94/table2");
  const auto run = keep(*database, outcome);
  ASSERT_TRUE(run.has_value()) << run.error().message();
  EXPECT_EQ(*db::query_integer(database->handle(), "SELECT count(*) FROM trial"),
            static_cast<std::int64_t>(outcome.cells.size()));
  EXPECT_GT(*db::query_integer(database->handle(), "SELECT count(*) FROM claim_number WHERE ours > 0"), 10);
  EXPECT_GT(*db::query_integer(database->handle(), "SELECT count(*) FROM claim_rule"), 5);
}

}  // namespace
}  // namespace headcrash::experiment
