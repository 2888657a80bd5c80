#include "harness/workload/operation.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/workload/small_files.h"

namespace headcrash::workload {
namespace {

TEST(Operation, TextFormIsReadBack) {
  for (const Operation& operation : small_files({.seed = 1})) {
    const Result<Operation> read = parse_operation(format(operation), "list:1");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, operation) << format(operation);
  }
}

TEST(Operation, BadLinesNameTheirPlace) {
  for (const char* line :
       {"", "fly a", "write a 0 512 1", "write a 1 512 1 1", "write a 0 0 1 1", "write a 0 99999999999 1 1",
        "write a x 512 1 1", "rename a", "sync now", "write a 18446744073709551104 512 1 1"}) {
    const Result<Operation> read = parse_operation(line, "list:7");
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message().find("list:7"), std::string::npos);
  }
}

TEST(SmallFiles, EqualSeedsGiveEqualLists) {
  EXPECT_EQ(small_files({.seed = 5}), small_files({.seed = 5}));
  EXPECT_NE(small_files({.seed = 5}), small_files({.seed = 6}));
}

TEST(SmallFiles, DoesEverythingItsNamePromises) {
  std::set<Operation::Kind> kinds;
  std::set<std::string> written;
  bool overwrites = false, replaces = false;
  for (const Operation& operation : small_files({.seed = 3})) {
    kinds.insert(operation.kind);
    if (operation.kind == Operation::Kind::write) overwrites |= !written.insert(operation.path).second;
    if (operation.kind == Operation::Kind::rename) replaces |= written.contains(operation.target);
  }
  EXPECT_EQ(kinds.size(), 8u);
  EXPECT_TRUE(overwrites);
  EXPECT_TRUE(replaces);
}

}  // namespace
}  // namespace headcrash::workload
