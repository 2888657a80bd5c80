#include "harness/contract/cell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fs-adapters/registry.h"
#include "harness/contract/in_process_cell.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::contract {
namespace {

using oracle::Finding;
using oracle::Tier;
using oracle::Verdict;

const Finding kNo{.kind = Verdict::wrong_data,
                  .tier = Tier::litmus,
                  .path = "f",
                  .expected = "f is new",
                  .found = "f: absent"};

TEST(Cell, CountsTheStatesThatBreakTheGuarantee) {
  Cell cell;
  cell.add({Verdict::clean, ""}, {}, "w1", 0);
  cell.add({Verdict::wrong_data, ""}, {kNo}, "w2-3.4", 2);
  cell.add({Verdict::wrong_data, ""}, {kNo}, "w2-3", 1);
  cell.add({Verdict::wrong_data, ""}, {kNo}, "w2-3.4.5", 3);
  cell.add({Verdict::unmountable, "bad magic"}, {}, "w9", 4);
  EXPECT_EQ(cell.states, 5U);
  EXPECT_EQ(cell.broken, 3U);
  EXPECT_EQ(cell.unusable, 1U);
  EXPECT_EQ(cell.smallest.state, "w2-3");
  EXPECT_EQ(cell.smallest.row, "f is new");
  cell.finish({});
  EXPECT_EQ(cell.text(), "broken 3/5");
}

/// A state that cannot be mounted neither keeps nor breaks the guarantee under test.
TEST(Cell, CountsUnmountableStatesSeparately) {
  Cell cell;
  cell.add({Verdict::unmountable, "bad magic"}, {}, "w9-1.2", 2);
  cell.add({Verdict::hang, "no answer"}, {}, "w9-1", 1);
  cell.add({Verdict::clean, ""}, {}, "w1", 0);
  cell.finish({});
  EXPECT_EQ(cell.answer, Answer::unusable);
  EXPECT_EQ(cell.text(), "unusable 2/3");
  EXPECT_EQ(cell.smallest.state, "w9-1");
  cell.add({Verdict::wrong_data, ""}, {kNo}, "w2-3.4.5", 3);
  cell.finish({});
  EXPECT_EQ(cell.text(), "broken 1/4");
  EXPECT_EQ(cell.smallest.state, "w2-3.4.5") << "it answers";
  EXPECT_TRUE(cell.lost());
  cell.answer = Answer::unsupported;
  EXPECT_FALSE(cell.lost()) << "states after a missing operation say nothing";
}

TEST(Cell, IgnoresFindingsOfOtherTiers) {
  Cell cell;
  Finding other = kNo;
  other.tier = Tier::integrity;
  cell.add({Verdict::wrong_data, ""}, {other}, "w1", 0);
  EXPECT_EQ(cell.broken, 0U);
  cell.add({Verdict::wrong_data, ""}, {other, kNo}, "w2", 0);
  EXPECT_EQ(cell.broken, 1U);
  EXPECT_EQ(cell.smallest.found, "f: absent");
}

TEST(Cell, FailsIfNoStateCouldBeChecked) {
  Cell cell;
  cell.add({Verdict::harness_error, "no guest"}, {}, "w1", 0);
  cell.finish({});
  EXPECT_EQ(cell.states, 0U);
  EXPECT_EQ(cell.answer, Answer::failed);
  EXPECT_EQ(cell.problem, "no guest");
  Cell empty;
  empty.finish({});
  EXPECT_EQ(empty.answer, Answer::failed) << "no state is no answer";
}

TEST(Cell, SaysWhetherMoreStatesExist) {
  Cell cell;
  cell.add({Verdict::clean, ""}, {}, "w1", 0);
  cell.finish({{.strategy = states::Strategy::prefix, .space = 5, .generated = 5}});
  EXPECT_EQ(cell.text(), "kept 0/1");
  Cell part;
  part.add({Verdict::wrong_data, ""}, {kNo}, "w1", 0);
  part.finish({{.strategy = states::Strategy::prefix, .space = 5, .bound = "the budget"}});
  EXPECT_EQ(part.text(), "broken 1/1+");
}

TEST(Table, SurvivesAJsonRoundTrip) {
  const std::vector<std::string> words{"39"};
  Table table{.tests = select_tests(words).value(),
              .systems = {{"ext4", "6.1"}, {"xfs", "6.1"}},
              .cells = {},
              .commit = "abc"};
  Cell cell{.test = 39,
            .system = "ext4",
            .promise = table.tests[0].promise_of("ext4"),
            .literature = table.tests[0].literature_on("ext4")};
  cell.add({Verdict::clean, ""}, {}, "w1", 0);
  cell.finish({});
  table.cells.push_back(cell);
  cell.system = "xfs";
  cell.promise = table.tests[0].promise_of("xfs");
  cell.literature = table.tests[0].literature_on("xfs");
  cell.add({Verdict::wrong_data, ""}, {kNo}, "w2-3", 1);
  cell.finish({});
  table.cells.push_back(cell);
  const auto read = parse_table(as_json(table).dump(), "t.json");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(as_json(*read), as_json(table));
  EXPECT_EQ(as_csv(*read), as_csv(table));
  const auto differs = differences(table, "ext4", *read, "xfs");
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs[0].test, 39);
  EXPECT_TRUE(differences(table, "xfs", *read, "xfs").empty());
  EXPECT_FALSE(parse_table("{}", "t.json"));
  EXPECT_FALSE(parse_table("[", "t.json"));
  EXPECT_FALSE(parse_table(R"({"contract":1})", "t.json"));
}

Cell run(const std::string& test, const std::string& type, const std::string& system) {
  const auto scratch = base::ScratchFolder::make().value();
  in_process::DiskExplorers explorers(scratch.path());
  const std::vector<std::string> words{test};
  const auto tests = select_tests(words).value();
  const auto cell = run_in_process(tests[0], *adapters::find_system(type, system).value(),
                                   explorers, {.states = 60}, scratch.path() / "test.hcrec");
  EXPECT_TRUE(cell) << cell.error().message();
  return cell.value_or(Cell());
}

TEST(InProcess, DistinguishesKeptFromBrokenGuarantees) {
  const Cell kept = run("rename", "ufs", "journal");
  EXPECT_EQ(kept.answer, Answer::kept) << kept.smallest.found << kept.problem;
  EXPECT_GT(kept.states, 1U);
  const Cell broken = run("replace-synced", "ufs", "no-order");
  EXPECT_EQ(broken.answer, Answer::broken) << broken.problem;
  EXPECT_EQ(broken.promise.kind, PromiseKind::none) << "a control";
}

TEST(InProcess, ReportsAnUnsupportedOperation) {
  const Cell cell = run("rwf-atomic", "ufs", "journal");
  EXPECT_EQ(cell.answer, Answer::unsupported);
  EXPECT_NE(cell.problem.find("write-atomic"), std::string::npos) << cell.problem;
}

}  // namespace
}  // namespace headcrash::contract
