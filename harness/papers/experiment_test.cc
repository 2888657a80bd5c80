// Tests parts of the experiment with small trees. Every claim must be answered, and the answers
// must be reproducible.
#include "harness/papers/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fs-adapters/ufs/format/image_reader.h"
#include "harness/papers/ganger94/ganger94.h"
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

/// Returns the distance between two blocks of a file, in blocks, and the size of a group in bytes.
std::pair<std::uint64_t, std::uint64_t> layout_in(ganger94::Reading reading) {
  using namespace ganger94;
  const auto machine = in_reading(usual(ComparedScheme::no_order), reading).start();
  EXPECT_TRUE(machine) << (machine ? "" : machine.error().message());
  ufs::InodeNumber number = 0;
  os::Account account{.name = "user"};
  (*machine)->system().run_as(account, [&] {
    Vfs& vfs = (*machine)->vfs();
    const auto file = vfs.open("file", {.create = true});
    const std::vector<std::byte> data(std::size_t{4} * 4096);
    EXPECT_TRUE(file && vfs.pwrite(*file, 0, data) && vfs.close(*file) && vfs.syncfs());
    number = static_cast<ufs::InodeNumber>(vfs.stat("file")->inode);
  });
  const auto reader = ufs::ImageReader::open(*(*machine)->medium());
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().message());
  const auto inode = reader->inode(number);
  const ufs::Geometry& geometry = reader->geometry();
  return {(inode->direct[3] - inode->direct[2]) / geometry.fragments_per_block(),
          std::uint64_t{geometry.fragments_per_group()} * 1024};
}

TEST(Experiment, GangersUfsLeavesGapsInOnlyOneInterpretation) {
  const auto [next, usual_group] = layout_in(ganger94::Reading::contiguous);
  const auto [after_gap, group_of_16] = layout_in(ganger94::Reading::gap);
  EXPECT_EQ(next, 1U);
  EXPECT_EQ(after_gap, 5U);  // 4 ms are more than three blocks
  EXPECT_EQ(group_of_16, 16 * 13 * 77 / 8 * 4096);
  EXPECT_NE(usual_group, group_of_16);
}

/// The part `gap` judges the rules of the figures and tables in the second reading, under other
/// identifiers.
TEST(Experiment, JudgesGangersGapsUnderSeparateIdentifiers) {
  const ExperimentOutcome first = small("ganger94/table1"), second = small("ganger94/gap");
  std::set<std::string> ids;
  for (const ClaimAnswer& answer : second.answers) {
    EXPECT_TRUE(answer.id.ends_with(", gap")) << answer.id;
    EXPECT_EQ(answer.part, "gap");
    for (const ClaimRule& rule : answer.rules) EXPECT_NE(rule.kind, RuleClass::arithmetic);
    ids.insert(answer.id);
  }
  for (const ClaimAnswer& answer : first.answers) EXPECT_TRUE(ids.contains(answer.id + ", gap"));
}

/// The results of second readings are stored in separate files, so that a whole paper has each rule
/// only once.
TEST(Experiment, WholePapersOmitPartsThatRunOnlyByName) {
  for (const char* paper : {"ganger94/gap", "peacock98/hot-spot"}) {
    const std::string name = paper;
    const auto part = parts_of(name);
    ASSERT_EQ(part.size(), 1U) << name;
    const auto whole = parts_of(name.substr(0, name.find('/')));
    EXPECT_GT(whole.size(), 10U);
    EXPECT_EQ(std::ranges::find(whole, part.front()), whole.end()) << name;
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

TEST(Cells, CacheResultsByNumberOfExecutions) {
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
