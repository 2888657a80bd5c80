// Tests that a snapshot contains the state at its creation, and that a persistent snapshot loses
// nothing. Also tests that a removed subvolume does not come back.
#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

const Found kLostBySync{{Verdict::lost_synced_data, Tier::documented}};

Found judge(const Lines& lines, std::size_t persisted, const Tree& tree) {
  return Case{lines, persisted}.judge(tree, {});
}

/// Returns a file as a snapshot shows it. Its stamps contain the number of the original file,
/// because the copy has not been written to.
ObservedObject copied(const std::string& path, std::uint32_t version, std::uint64_t inode) {
  return file(path, 1, 1, version, inode);
}

const Lines kSnapshot{"subvolume s",  "create s/a",          "write s/a 0 512 1 1",
                      "snapshot s t", "write s/a 0 512 1 2", "sync"};

TEST(Subvolumes, ASnapshotHasTheStateAtItsCreation) {
  const ObservedObject s = directory("s", 1), t = directory("t", 2), now = copied("s/a", 2, 3);
  EXPECT_EQ(judge(kSnapshot, 5, {s, t, now, copied("t/a", 1, 4)}), Found{});
  EXPECT_NE(judge(kSnapshot, 5, {s, t, now, copied("t/a", 2, 4)}), Found{})
      << "data written after the snapshot";
  EXPECT_EQ(judge(kSnapshot, 5, {s, t, now}), kLostBySync);
  EXPECT_NE(judge(kSnapshot, 5, {s, now}), Found{});
  EXPECT_NE(judge(kSnapshot, 5, {s, t, now, file("t/a", 1, 0, 0, 4)}), Found{}) << "zeroes";
  EXPECT_NE(judge(kSnapshot, 5, {s, t, now, copied("t/a", 1, 3)}), Found{})
      << "the snapshot shares the inode";
}

TEST(Subvolumes, ARootSnapshotOmitsItselfAndContentOfSubvolumes) {
  const Lines list{"mkdir d",    "create d/a",   "link d/a b", "subvolume s",
                   "create s/x", "snapshot . t", "sync"};
  const Tree whole{directory("d", 1),   file("d/a", 0, 0, 0, 2, 2),   file("b", 0, 0, 0, 2, 2),
                   directory("s", 3),   file("s/x", 0, 0, 0, 4),      directory("t", 5),
                   directory("t/d", 6), file("t/d/a", 0, 0, 0, 7, 2), file("t/b", 0, 0, 0, 7, 2),
                   directory("t/s", 8)};
  EXPECT_EQ(judge(list, 6, whole), Found{});
  Tree more = whole;
  more.push_back(file("t/s/x", 0, 0, 0, 9));
  EXPECT_NE(judge(list, 6, more), Found{});
}

TEST(Subvolumes, ARemovedSubvolumeIsGoneWithItsContent) {
  const Lines list{"snapshot . t", "create a",           "create t/b",
                   "sync",         "remove-subvolume t", "fsyncdir ."};
  const ObservedObject a = file("a", 0, 0, 0, 1);
  EXPECT_EQ(judge(list, 5, {a}), Found{});
  EXPECT_NE(judge(list, 5, {a, directory("t", 2)}), Found{});
  EXPECT_EQ(judge(list, 3, {a, directory("t", 2), file("t/b", 0, 0, 0, 3)}), Found{});
}

TEST(Subvolumes, RejectsImpossibleOperations) {
  const auto follows = [](const Lines& lines) {
    std::vector<workload::Operation> list;
    for (const std::string& line : lines)
      list.push_back(workload::parse_operation(line, "test").value());
    return Oracle::follow(list, {}).has_value();
  };
  EXPECT_TRUE(follows({"subvolume s", "snapshot s t", "remove-subvolume s", "remove-subvolume t"}));
  EXPECT_FALSE(follows({"mkdir s", "snapshot s t"}));
  EXPECT_FALSE(follows({"mkdir s", "remove-subvolume s"}));
  EXPECT_FALSE(follows({"subvolume s", "subvolume s/u", "remove-subvolume s"}));
  EXPECT_FALSE(follows({"create t", "snapshot . t"}));
}

}  // namespace
}  // namespace headcrash::oracle
