#include "harness/oracle/list_of_tree.h"

#include <gtest/gtest.h>

#include <random>

#include "harness/oracle/oracle.h"
#include "harness/oracle/testing/judged_case.h"
#include "harness/oracle/testing/reference_model.h"
#include "harness/workload/random_operations.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;

std::string lines(const std::vector<Operation>& list) {
  std::string text;
  for (const Operation& each : list) text += workload::format(each) + "\n";
  return text;
}

std::vector<Finding> judged_by(const std::vector<Operation>& list, const Tree& tree) {
  const Result<Oracle> oracle = Oracle::follow(list, {.promises = {}});
  EXPECT_TRUE(oracle) << oracle.error().message() << "\n" << lines(list);
  if (!oracle) return {};
  return oracle->judge(list.size() - 1, tree);
}

TEST(ListOfTree, RecreatesAndPersistsTheTree) {
  ObservedObject directory{.path = "d", .type = FileType::directory, .inode = 12, .links = 2};
  directory.attributes["user.a"] = "b";
  ObservedObject grown = file("d/f", 3, 7, 5, 13, 2);
  grown.size_bytes = 4000;
  ObservedObject other = grown;
  other.path = "z";
  const Tree tree{other,  // unsorted
                  {.path = "lost+found", .type = FileType::directory, .inode = 11},
                  {.path = "s", .type = FileType::symlink, .inode = 15, .link_target = "to/x"},
                  {.path = "p", .type = FileType::fifo, .inode = 16},
                  grown,
                  directory};
  const auto list = list_of_tree(tree, {});
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(
      lines(*list),
      "mkdir d\nsetxattr d user.a b\ncreate d/f\nwrite d/f 0 1536 7 5\ntruncate d/f 4000\nmknod p fifo\n"
      "symlink to/x s\nlink d/f z\nfreeze\n");
}

TEST(ListOfTree, SetsOnlyInodeValuesThatTheWorkloadSets) {
  ObservedObject object = file("f", 0, 0, 0, 12);
  object.mode = 0640;
  object.user = 3;
  object.group = 4;
  object.modified_seconds = 1000000001;  // an odd time, because a list can set only even times
  const auto set_by = [&](const Operation& operation) {
    const auto list = list_of_tree({object}, std::vector<Operation>{operation});
    return list ? lines(*list) : list.error().message();
  };
  EXPECT_EQ(set_by({.kind = Operation::Kind::sync}), "create f\nfreeze\n");
  EXPECT_EQ(set_by({.kind = Operation::Kind::chmod, .path = "f"}),
            "create f\nchmod f 640\nfreeze\n");
  EXPECT_EQ(set_by({.kind = Operation::Kind::chown, .path = "f"}),
            "create f\nchown f 3 4\nfreeze\n");
  EXPECT_EQ(set_by({.kind = Operation::Kind::touch, .path = "f"}), "create f\nfreeze\n");
  object.modified_seconds = 1000000002;
  EXPECT_EQ(set_by({.kind = Operation::Kind::touch, .path = "f"}),
            "create f\ntouch f 1000000002\nfreeze\n");
}

TEST(ListOfTree, RejectsTreesThatNoOperationsCanCreate) {
  ObservedObject moved = file("f", 2, 7, 5, 12);
  moved.runs.front().kind = ContentRun::Kind::moved;
  EXPECT_FALSE(list_of_tree({moved}, {}));
  ObservedObject two = file("f", 2, 7, 5, 12);
  two.runs.push_back({ContentRun::Kind::stamp, 2, 1, 8, 6});
  two.size_bytes = 1536;
  EXPECT_FALSE(list_of_tree({two}, {}));
  ObservedObject foreign = file("f", 2, 7, 5, 12);
  foreign.runs.front().kind = ContentRun::Kind::foreign;
  EXPECT_FALSE(list_of_tree({foreign}, {}));
  EXPECT_FALSE(list_of_tree({{.path = "w", .type = FileType::whiteout, .inode = 12}}, {}));
  ObservedObject cut = file("f", 2, 7, 5, 12);
  cut.cut = true;
  EXPECT_FALSE(list_of_tree({cut}, {}));
  EXPECT_FALSE(list_of_tree({}, std::vector<Operation>{{.kind = Operation::Kind::snapshot}}));
}

// If the executor cannot cut the power, it skips the crash. The list is then judged as if it
// contained no crash.
TEST(ListOfTree, IsNotNeededIfTheCrashIsSkipped) {
  const Lines lines{"create f", "write f 0 512 1 1", "fsync f", "crash power", "write f 0 512 1 2"};
  const Case skipped{lines, 2, {{3, workload::Outcome::skipped}}}, not_reached{lines, 2};
  for (const Case& each : {skipped, not_reached}) {
    EXPECT_EQ(each.judge({file("f", 1, 1, 1, 12)}, {}), Found{});
    EXPECT_FALSE(each.judge({file("f", 0, 1, 1, 12)}, {}).empty());
  }
}

// Takes trees that a correct file system may leave after a cut, and converts them to lists. Each
// list must create exactly the same tree.
TEST(ListOfTree, IsJudgedLikeTheTreeItself) {
  std::size_t made = 0, trees = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    workload::RandomOptions options{
        .seed = seed, .rounds = 40, .directories = 2, .names = 4, .largest_blocks = 6};
    options.weights.at(static_cast<std::size_t>(Operation::Kind::chmod)) = 3;
    const std::vector<Operation> operations = workload::random_operations(options);
    const adapters::Promises promises;
    const ReferenceModel files(operations, promises);
    std::mt19937_64 random(seed);
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (!workload::is_persistence_point(operations[i])) continue;
      Tree tree = files.tree_after({.persisted = before, .reached = i}, random);
      before = i;
      ++trees;
      const auto list = list_of_tree(tree, operations);
      // list_of_tree() fails if a block mixes bytes of two writes, because no list of operations
      // creates such a block.
      if (!list) continue;
      ++made;
      for (const Finding& each : judged_by(*list, tree))
        ADD_FAILURE() << "seed " << seed << ": " << each.path << ": expected " << each.expected
                      << ", found " << each.found << "\n"
                      << lines(*list);
      for (std::size_t k = 0; k < tree.size(); ++k) {
        if (tree[k].type == FileType::directory || tree[k].links > 1) continue;
        Tree less = tree;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_FALSE(judged_by(*list, less).empty())
            << "seed " << seed << " without " << tree[k].path;
        if (tree[k].runs.empty() || tree[k].runs.front().kind != ContentRun::Kind::stamp) continue;
        Tree older = tree;
        older[k].runs.front().version += 1000;
        EXPECT_FALSE(judged_by(*list, older).empty())
            << "seed " << seed << " with other data in " << tree[k].path;
        break;
      }
    }
  }
  EXPECT_GT(made * 2, trees) << made << " of " << trees;
}

}  // namespace
}  // namespace headcrash::oracle
