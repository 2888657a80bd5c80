#include "harness/contract/allowed_set.h"

#include <gtest/gtest.h>

#include "harness/contract/seeded_defect.h"

namespace headcrash::contract {
namespace {

using Lines = std::vector<std::string>;

std::vector<workload::Operation> list_of(const Lines& lines) {
  std::vector<workload::Operation> list;
  for (const std::string& line : lines)
    list.push_back(workload::parse_operation(line, "test").value());
  return list;
}

/// Parses allowed sets of a test that overwrites a file of 8192 bytes with two writes, and then
/// calls fsync.
class AllowedSetTest : public ::testing::Test {
 protected:
  AllowedSetTest() {
    auto made =
        states_of(list_of({"create f", "write f 0 8192 1 1"}),
                  list_of({"write f 0 4096 1 2", "write f 4096 4096 1 3", "fsync f"}), "test");
    EXPECT_TRUE(made) << made.error().message();
    states_ = *made;
  }
  bool allows(const std::string& row, const Tree& tree,
              std::optional<std::size_t> persisted = std::nullopt) const {
    auto parsed = parse_row(row, {.operations = 3, .last_persistent = 2}, "test");
    EXPECT_TRUE(parsed) << parsed.error().message();
    return AllowedSet({*parsed}, states_).judge(persisted, tree).empty();
  }
  std::string error_of(const std::string& row) const {
    const auto parsed = parse_row(row, {.operations = 3, .last_persistent = 2}, "file.toml: rows");
    EXPECT_FALSE(parsed);
    return parsed ? "" : parsed.error().message();
  }
  std::vector<Tree> states_;
};

TEST_F(AllowedSetTest, AcceptsOnlyTheStatesThatARowNames) {
  EXPECT_TRUE(allows("f is old", states_[0]));
  EXPECT_FALSE(allows("f is old", states_[1]));
  EXPECT_TRUE(allows("f is old|1", states_[1]));
  EXPECT_TRUE(allows("f is any", states_[2]));
  EXPECT_FALSE(allows("f is new", {}));
  EXPECT_TRUE(allows("g is new", {})) << "g exists in neither";
  EXPECT_TRUE(allows("f size old", states_[3]));
  EXPECT_TRUE(allows("f exists", states_[3]));
  EXPECT_FALSE(allows("f absent", states_[3]));
}

TEST_F(AllowedSetTest, SyncedRowsApplyOnlyAfterTheirPersistencePoint) {
  EXPECT_TRUE(allows("synced: f is new", states_[0]));
  EXPECT_TRUE(allows("synced: f is new", states_[0], 1));
  EXPECT_FALSE(allows("synced: f is new", states_[0], 2));
  EXPECT_TRUE(allows("synced: f is new", states_[3], 2));
  EXPECT_FALSE(allows("synced 2: f is new", states_[0], 1));
}

TEST_F(AllowedSetTest, EvaluatesConditionsAndAlternatives) {
  EXPECT_TRUE(allows("if f is old then f absent or f size old", states_[0]));
  EXPECT_FALSE(allows("if f is old and f exists then f absent", states_[0]));
  EXPECT_TRUE(allows("if f is new then f absent", states_[0]));
  EXPECT_TRUE(allows("if f is new and f exists then f absent", states_[0]))
      << "one of two conditions is not enough";
}

TEST_F(AllowedSetTest, ContentMayMixOldAndNewUnits) {
  Tree mixed = states_[1];
  EXPECT_TRUE(allows("f mixes 4096", mixed));
  EXPECT_FALSE(allows("f mixes 8192", mixed));
  mixed[0].runs[3] = states_[0][0].runs[3];  // an old sector within a new page
  EXPECT_FALSE(allows("f mixes 4096", mixed));
  EXPECT_TRUE(allows("f mixes 512", mixed));
  Tree torn_end = states_[3];
  torn_end[0].runs[12] = states_[0][0].runs[12];  // an old sector within the last page
  EXPECT_FALSE(allows("f mixes 4096", torn_end));
  mixed[0].size_bytes = 4096;
  EXPECT_FALSE(allows("f mixes 512", mixed)) << "neither the old nor the new size";
}

TEST_F(AllowedSetTest, BeginsAcceptsAPrefixOfTheContent) {
  Tree shorter = states_[3];
  shorter[0].size_bytes = 1024;
  EXPECT_TRUE(allows("f begins new", shorter));
  shorter[0].runs[1].version = 1;
  EXPECT_FALSE(allows("f begins new", shorter));
}

TEST_F(AllowedSetTest, OwnContentExcludesForeignBlocks) {
  Tree tree = states_[1];
  EXPECT_TRUE(allows("f own", tree));
  tree[0].runs[0].kind = oracle::ContentRun::Kind::zero;
  EXPECT_TRUE(allows("f own", tree));
  tree[0].runs[0].kind = oracle::ContentRun::Kind::before_mkfs;
  EXPECT_FALSE(allows("f own", tree));
  tree = states_[1];
  tree[0].runs[0].file = 9;
  EXPECT_FALSE(allows("f own", tree)) << "a block of another file";
  tree = states_[1];
  tree[0].error = 5;
  EXPECT_FALSE(allows("f own", tree)) << "cannot be read";
}

TEST_F(AllowedSetTest, AFindingNamesItsRowAndObject) {
  const auto row = parse_row("f is new", {.operations = 3, .last_persistent = 2}, "test").value();
  const auto findings = AllowedSet({row}, states_).judge(std::nullopt, states_[1]);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].tier, oracle::Tier::litmus);
  EXPECT_EQ(findings[0].expected, "f is new");
  EXPECT_NE(findings[0].found.find("8192 bytes"), std::string::npos) << findings[0].found;
}

TEST_F(AllowedSetTest, RejectsInvalidRows) {
  for (const char* row : {"", "f", "f flies", "f is", "f is 4", "f is older", "f mixes 100",
                          "f exists g", "if f exists f absent", "synced 4: f exists",
                          "synced x: f exists", "f exists or", "f is old of"}) {
    const std::string error = error_of(row);
    EXPECT_TRUE(error.starts_with("file.toml: rows")) << row << ": " << error;
  }
  EXPECT_NE(error_of("f exist").find("exists"), std::string::npos) << "suggests the nearest";
  EXPECT_FALSE(parse_row("synced: f exists", {.operations = 3}, "test"));
}

}  // namespace
}  // namespace headcrash::contract
