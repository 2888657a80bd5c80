// Tests the judge of shared histories (serial_order.h).
#include "harness/oracle/serial_order.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <initializer_list>

#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

/// One call: a line of the list, its interval and its result.
struct TestCall {
  const char* line = "";
  std::uint64_t begun = 0, ended = 0;
  int error = 0;
};

class SharedHistories : public testing::Test {
 protected:
  void call(const char* line, std::uint64_t begun, std::uint64_t ended, int error = 0) {
    operations_.push_back(*workload::parse_operation(line, "test"));
    calls_.push_back(
        {.operation = operations_.size() - 1, .begun = begun, .ended = ended, .error = error});
  }
  void file(const char* path, std::uint64_t inode, std::uint32_t links = 1,
            std::vector<std::byte> content = {}) {
    tree_.push_back({.path = path, .inode = inode, .links = links, .content = std::move(content)});
  }
  void directory(const char* path, std::uint64_t inode, std::uint32_t links = 2) {
    tree_.push_back({.path = path, .inode = inode, .directory = true, .links = links});
  }
  bool permitted() const {
    return !contradiction_in({.operations = operations_, .calls = calls_, .tree = tree_});
  }

  std::vector<workload::Operation> operations_;
  std::vector<SharedCall> calls_;
  std::vector<SharedObject> tree_;
};

TEST_F(SharedHistories, OnlyOneOfTwoUsersCreatesAName) {
  call("create a", 1, 4);
  call("@1 create a", 2, 3, EEXIST);
  file("a", 7);
  EXPECT_TRUE(permitted());
  calls_[1].error = 0;
  EXPECT_FALSE(permitted());
  calls_[0].error = calls_[1].error = EEXIST;
  EXPECT_FALSE(permitted());
}

TEST_F(SharedHistories, ACallThatHasReturnedPrecedesLaterCalls) {
  call("create a", 1, 2);
  call("@1 unlink a", 3, 4, ENOENT);
  file("a", 7);
  EXPECT_FALSE(permitted());
  calls_[1].begun = 1;  // now the two calls overlap
  EXPECT_TRUE(permitted());
}

TEST_F(SharedHistories, TheFinalTreeMustMatchTheOrder) {
  call("create a", 1, 2);
  call("rename a b", 3, 6);
  call("@1 rename a c", 4, 5, ENOENT);
  file("b", 7);
  EXPECT_TRUE(permitted());
  tree_.clear();
  file("c", 7);
  EXPECT_FALSE(permitted()) << "the rename to b has succeeded";
  tree_.clear();
  EXPECT_FALSE(permitted()) << "the file is lost";
}

TEST_F(SharedHistories, LinksOfAFileAreCountedAndShareTheInode) {
  call("create a", 1, 2);
  call("link a b", 3, 6);
  call("@1 unlink a", 4, 5);
  file("b", 7);
  EXPECT_TRUE(permitted());
  tree_.front().links = 2;
  EXPECT_FALSE(permitted());
  calls_.pop_back();
  file("a", 7, 2);
  EXPECT_TRUE(permitted());
  tree_.back().inode = 8;
  EXPECT_FALSE(permitted());
}

TEST_F(SharedHistories, ALinkMayResolveItsFileBeforeCreatingTheName) {
  call("create a", 1, 2);
  call("link a b", 3, 8);
  call("@1 rename a c", 4, 5);
  call("@1 create a", 6, 7);
  file("a", 8);
  file("b", 7, 2);
  file("c", 7, 2);
  EXPECT_TRUE(permitted());
}

TEST_F(SharedHistories, AnOpenFileKeepsItsContent) {
  std::vector<std::byte> content(1024);
  workload::write_stamps(3, 4, 512, std::span(content).subspan(512));
  call("create a", 1, 2);
  call("open a %f", 3, 4);
  call("@1 rename a b", 5, 6);
  call("write %f 512 512 3 4", 7, 8);
  file("b", 7, 1, content);
  EXPECT_TRUE(permitted());
  tree_.front().content[600] ^= std::byte{1};
  EXPECT_FALSE(permitted());
}

TEST_F(SharedHistories, TheLastOfTwoOverlappingWritesWins) {
  std::vector<std::byte> content(512);
  call("create a", 1, 2);
  call("open a %f", 3, 4);
  call("@1 open a %g", 3, 4);
  call("write %f 0 512 1 1", 5, 7);
  call("@1 write %g 0 512 2 2", 6, 8);
  for (const std::uint32_t version : {1U, 2U}) {
    workload::write_stamps(version, version, 0, content);
    tree_.clear();
    file("a", 7, 1, content);
    EXPECT_TRUE(permitted()) << version;
  }
  calls_[3].ended = 5;  // the first write ends before the second one begins
  workload::write_stamps(1, 1, 0, content);
  tree_.front().content = content;
  EXPECT_FALSE(permitted());
}

TEST_F(SharedHistories, ACallMayResolveItsDirectoryBeforeARename) {
  call("mkdir d", 1, 2);
  call("create d/a", 3, 8);
  call("@1 rename d e", 4, 5);
  call("@1 unlink e/a", 6, 7, ENOENT);
  directory("e", 5);
  file("e/a", 7);
  EXPECT_TRUE(permitted());
  calls_[1].error = ENOENT;
  EXPECT_FALSE(permitted()) << "the name exists";
  tree_.pop_back();
  EXPECT_TRUE(permitted());
}

TEST_F(SharedHistories, NoNameIsCreatedInARemovedDirectory) {
  call("mkdir d", 1, 2);
  call("create d/a", 3, 6);
  call("@1 rmdir d", 4, 5);
  EXPECT_FALSE(permitted());
  calls_[1].error = ENOENT;
  EXPECT_TRUE(permitted());
}

TEST_F(SharedHistories, RenamesReplaceExchangeOrFail) {
  call("mkdir d", 1, 2);
  call("create a", 3, 4);
  call("rename-exchange a d", 5, 6);
  call("rename-noreplace a d", 7, 8, EEXIST);
  call("rename d a", 9, 10, EISDIR);
  call("rename a d", 11, 12, ENOTDIR);
  call("rename a a/b", 13, 14, EINVAL);
  call("unlink a", 15, 16, EISDIR);
  call("rmdir d", 17, 18, ENOTDIR);
  directory("a", 5);
  file("d", 7);
  EXPECT_TRUE(permitted());
}

TEST_F(SharedHistories, DescribesTheContradiction) {
  call("create a", 1, 2);
  const auto wrong = contradiction_in({.operations = operations_, .calls = calls_, .tree = tree_});
  ASSERT_TRUE(wrong);
  EXPECT_NE(wrong->find("create a: ok"), std::string::npos) << *wrong;
}

}  // namespace
}  // namespace headcrash::oracle
