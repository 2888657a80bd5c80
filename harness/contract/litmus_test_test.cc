#include "harness/contract/litmus_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace headcrash::contract {
namespace {

const std::vector<LitmusTest>& tests() {
  static const auto all = all_tests();
  EXPECT_TRUE(all) << all.error().message();
  return *all;
}

std::string text(const std::vector<oracle::Finding>& findings) {
  std::string lines;
  for (const oracle::Finding& each : findings)
    lines += fmt::format("\n  {}: found {}", each.expected, each.found);
  return lines;
}

TEST(LitmusTests, AreNumberedFrom1To75) {
  ASSERT_EQ(tests().size(), 75U);
  std::set<std::string> names;
  for (std::size_t i = 0; i < tests().size(); ++i) {
    EXPECT_EQ(tests()[i].number, static_cast<int>(i + 1));
    names.insert(tests()[i].name);
  }
  EXPECT_EQ(names.size(), 75U);
}

// A correct file system, which makes an operation durable before the operation returns, must pass
// all tests.
TEST(LitmusTests, AllowACorrectFileSystem) {
  for (const LitmusTest& test : tests()) {
    const auto cuts = correct_cuts(test.operations, test.allowed.states());
    for (std::size_t done = 0; done < cuts.size(); ++done) {
      const auto findings = test.allowed.judge(cuts[done].persisted, cuts[done].tree);
      EXPECT_TRUE(findings.empty())
          << test.number << " after " << done << " operations:" << text(findings);
    }
  }
}

TEST(LitmusTests, DetectTheirSeededDefects) {
  for (const LitmusTest& test : tests()) {
    ASSERT_FALSE(test.defect.empty()) << test.number;
    const ModelledCut cut =
        defective_cut(test.initial, test.operations, test.allowed.states(), test.defect);
    EXPECT_FALSE(test.allowed.judge(cut.persisted, cut.tree).empty())
        << test.number << " " << test.name;
  }
}

// In a row with "synced", the named operation must be a persistence point. Otherwise, no tree could
// satisfy the row's condition.
TEST(LitmusTests, SyncedRowsNamePersistencePoints) {
  for (const LitmusTest& test : tests())
    for (const Row& row : test.allowed.rows())
      if (row.synced) {
        EXPECT_TRUE(workload::is_persistence_point(test.operations[*row.synced])) << test.number;
      }
}

TEST(LitmusTests, AreFoundByKeywords) {
  const auto found = find_tests("rename over without fsync", 3);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].name, "replace-unsynced");
  EXPECT_TRUE(find_tests("zebra", 3).empty());
  EXPECT_EQ(find_tests("msync", 1).at(0).number, 8);
}

TEST(LitmusTests, AreSelectedByNumberNameAndGroup) {
  const std::vector<std::string> words{"replace", "1", "old-changes"};
  const auto chosen = select_tests(words);
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_EQ(chosen->size(), 11U);
  EXPECT_EQ(chosen->front().number, 1);
  EXPECT_EQ(chosen->back().number, 68);
  const std::vector<std::string> wrong{"replace-unsinced"};
  const auto none = select_tests(wrong);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().hint.find("replace-unsynced"), std::string::npos);
}

TEST(LitmusTests, PromisesDependOnTheFileSystem) {
  const LitmusTest& test = tests()[38];
  EXPECT_EQ(test.promise_of("xfs").kind, PromiseKind::none);
  EXPECT_EQ(test.promise_of("ext4").kind, PromiseKind::documented);
  EXPECT_EQ(test.promise_of("ext4-writeback").kind, PromiseKind::documented);
  EXPECT_EQ(test.promise_of("ext4-noauto-da-alloc").kind, PromiseKind::none);
}

TEST(LitmusTests, CiteLiteraturePerFileSystem) {
  const LitmusTest& test = tests()[38];
  EXPECT_TRUE(test.literature_on("xfs").starts_with("broken: Bornholt"));
  EXPECT_TRUE(test.literature_on("btrfs").starts_with("kept: Bornholt"));
  EXPECT_EQ(test.literature_on("ext4-journal"), "") << "not of other modes of ext4";
}

TEST(LitmusTests, RunTheirOperationsAfterTheInitialSync) {
  const LitmusTest& test = tests()[1];
  const auto list = test.whole_list();
  ASSERT_EQ(list.size(), test.initial.size() + 1 + test.operations.size());
  EXPECT_EQ(list[test.offset() - 1].kind, workload::Operation::Kind::sync);
  EXPECT_EQ(list[test.offset()], test.operations[0]);
  EXPECT_FALSE(test.own_operation(test.offset() - 1));
  EXPECT_EQ(test.own_operation(test.offset() + 1), 1U);
}

TEST(LitmusTests, InitialFsyncsReachEveryFileAndDirectory) {
  for (const LitmusTest& given : tests()) {
    const LitmusTest test = given.with_initial_fsyncs();
    const std::span<const workload::Operation> added =
        std::span(test.initial).subspan(given.initial.size());
    std::set<std::string> synced;
    for (const workload::Operation& each : added) synced.insert(each.path);
    EXPECT_TRUE(synced.contains(".")) << given.name;
    for (const oracle::ObservedObject& object : given.allowed.states().front())
      EXPECT_EQ(synced.contains(object.path),
                object.type == FileType::regular || object.type == FileType::directory)
          << given.name << ": " << object.path;
    EXPECT_EQ(test.own_operation(test.offset() + 1), 1U);
    // a wrong path would fail
    const auto states = states_of(test.initial, test.operations, given.name);
    ASSERT_TRUE(states) << states.error().message();
    EXPECT_EQ(states->front(), given.allowed.states().front());
  }
}

TEST(LitmusTests, InvalidFilesAreRejected) {
  const std::string good =
      "[[test]]\nnumber = 1\nname = \"a\"\ntitle = \"t\"\nrelies = \"r\"\n"
      "operations = [\"create f\", \"fsync f\"]\nallowed = [\"synced: f exists\"]\n"
      "promise = \"posix\"\nbroken-by = [\"remove f\"]\n";
  EXPECT_TRUE(parse_tests(good, "t.toml", "g"));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const auto parsed = parse_tests(text, "t.toml", "g");
    EXPECT_FALSE(parsed) << text;
    return parsed ? "" : parsed.error().message();
  };
  EXPECT_NE(replaced("posix", "posx").find("test[0].promise"), std::string::npos);
  EXPECT_NE(replaced("fsync f\"", "fsync g\"").find("fails"), std::string::npos);
  EXPECT_NE(replaced("f exists", "f exist").find("exists"), std::string::npos);
  EXPECT_NE(replaced("remove f", "lose f").find("unknown step"), std::string::npos);
  EXPECT_NE(replaced("number = 1", "number = 0").find("number"), std::string::npos);
  EXPECT_NE(replaced("title", "titel").find("title"), std::string::npos);
  EXPECT_NE(replaced("create f\"", "create f f\"").find("create"), std::string::npos);
  EXPECT_NE(replaced("broken-by = [\"remove f\"]\n", "").find("broken-by"), std::string::npos);
  EXPECT_NE(replaced("[\"remove f\"]\n", "[\"remove f\"]\n[test.literature]\next4 = \"lost\"\n")
                .find("has no answer"),
            std::string::npos);
}

}  // namespace
}  // namespace headcrash::contract
