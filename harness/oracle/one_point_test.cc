// Tests trees that match one point in the history, and trees that match no point although each of
// their names is permitted.
#include <gtest/gtest.h>

#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

using adapters::OnePoint;

const adapters::Promises kNoPointPromised;
const adapters::Promises kMetadataOfOne{.one_point = OnePoint::metadata};
const adapters::Promises kAllOfOne{.one_point = OnePoint::all};
const Found kNoFinding;
const Found kOfNoPoint{{Verdict::wrong_data, Tier::documented}};

ObservedObject with_mode(ObservedObject object, std::uint32_t mode) {
  object.mode = mode;
  return object;
}

TEST(OnePoint, RejectsALaterNameWithoutAnEarlierOne) {
  const Case two{{"create a", "sync", "create b", "create c", "sync"}, 1};
  const ObservedObject a = file("a", 0, 0, 0, 1), b = file("b", 0, 0, 0, 2),
                       c = file("c", 0, 0, 0, 3);
  for (const Tree& tree : {Tree{a}, Tree{a, b}, Tree{a, b, c}})
    EXPECT_EQ(two.judge(tree, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(two.judge({a, c}, kNoPointPromised), kNoFinding);
  EXPECT_EQ(two.judge({a, c}, kMetadataOfOne), kOfNoPoint);
}

TEST(OnePoint, IsNotBeforeTheLastPersistencePoint) {
  const Case two{{"create a", "create b", "fsync b", "create c"}, 2};
  const ObservedObject a = file("a", 0, 0, 0, 1), b = file("b", 0, 0, 0, 2);
  const adapters::Promises names{.fsync_keeps_name = true};
  const adapters::Promises point{.fsync_keeps_name = true, .one_point = OnePoint::metadata};
  EXPECT_EQ(two.judge({b}, names), kNoFinding);
  EXPECT_EQ(two.judge({b}, point), kOfNoPoint) << "fsync persists all earlier operations";
  EXPECT_EQ(two.judge({a, b}, point), kNoFinding);
}

/// A `rest` operation makes changes persistent only if they are old enough. A rest that is shorter
/// than the required age makes nothing persistent.
TEST(OnePoint, MayPrecedeARestThatIsTooShort) {
  const adapters::Promises eight{.keeps_after_s = 8, .one_point = OnePoint::metadata};
  const Case shorter{{"create a", "rest 7", "create b"}, 1};
  EXPECT_EQ(shorter.judge({}, eight), kNoFinding);
  const Case rested{{"create a", "rest 8", "create b"}, 1};
  EXPECT_NE(rested.judge({}, eight), kNoFinding);
  EXPECT_EQ(rested.judge({file("a", 0, 0, 0, 1)}, eight), kNoFinding);
}

TEST(OnePoint, IncludesSizesAndModes) {
  const Case both{
      {"create a", "create b", "chmod b 600", "sync", "write a 0 512 1 1", "chmod b 640", "sync"},
      3};
  const auto tree = [](std::uint64_t blocks, std::uint32_t mode) {
    return Tree{with_mode(file("a", blocks, 1, 1, 1), 0644),
                with_mode(file("b", 0, 0, 0, 2), mode)};
  };
  EXPECT_EQ(both.judge(tree(0, 0600), kMetadataOfOne), kNoFinding);
  EXPECT_EQ(both.judge(tree(1, 0600), kMetadataOfOne), kNoFinding);
  EXPECT_EQ(both.judge(tree(1, 0640), kMetadataOfOne), kNoFinding);
  EXPECT_EQ(both.judge(tree(0, 0640), kNoPointPromised), kNoFinding);
  EXPECT_EQ(both.judge(tree(0, 0640), kMetadataOfOne), kOfNoPoint);
}

TEST(OnePoint, IncludesContentsIfPromised) {
  const Case over{{"create a", "write a 0 1024 1 1", "sync", "write a 0 512 1 2",
                   "write a 512 512 1 3", "sync"},
                  2};
  const auto tree = [](std::uint32_t first, std::uint32_t second) {
    ObservedObject a = file("a", 2, 1, 1, 1);
    a.runs = {{ContentRun::Kind::stamp, 0, 1, 1, first},
              {ContentRun::Kind::stamp, 1, 1, 1, second}};
    return Tree{a};
  };
  EXPECT_EQ(over.judge(tree(1, 1), kAllOfOne), kNoFinding);
  EXPECT_EQ(over.judge(tree(2, 1), kAllOfOne), kNoFinding);
  EXPECT_EQ(over.judge(tree(2, 3), kAllOfOne), kNoFinding);
  EXPECT_EQ(over.judge(tree(1, 3), kMetadataOfOne), kNoFinding)
      << "data may be newer than metadata";
  EXPECT_EQ(over.judge(tree(1, 3), kAllOfOne), kOfNoPoint);
}

TEST(OnePoint, APartialWriteDoesNotConstrainItsFile) {
  const Case no_room{{"create a", "sync", "write a 0 1024 1 1", "create b", "sync"},
                     1,
                     {{2, workload::Outcome::partial}}};
  EXPECT_EQ(no_room.judge({file("a", 1, 1, 1, 1), file("b", 0, 0, 0, 2)}, kAllOfOne), kNoFinding);
  EXPECT_EQ(no_room.judge({file("a", 1, 1, 1, 1)}, kAllOfOne), kNoFinding);
}

TEST(OnePoint, EachUserHasASeparatePoint) {
  const Case users{
      {"mkdir d", "sync", "join", "create a", "@1 create d/b", "create c", "@1 create d/e"}, 1};
  const ObservedObject d = directory("d", 10), a = file("a", 0, 0, 0, 1),
                       b = file("d/b", 0, 0, 0, 2), c = file("c", 0, 0, 0, 3),
                       e = file("d/e", 0, 0, 0, 4);
  for (const Tree& tree : {Tree{d}, Tree{d, a, c}, Tree{d, b, e}, Tree{d, a, b, e}})
    EXPECT_EQ(users.judge(tree, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(users.judge({d, c}, kMetadataOfOne), kOfNoPoint);
  EXPECT_EQ(users.judge({d, a, e}, kMetadataOfOne), kOfNoPoint);
}

TEST(OnePoint, RequiresAllOperationsBeforeAJoin) {
  const Case users{{"create a", "@1 create b", "join", "create c"}, std::nullopt};
  const ObservedObject a = file("a", 0, 0, 0, 1), b = file("b", 0, 0, 0, 2),
                       c = file("c", 0, 0, 0, 3);
  EXPECT_EQ(users.judge({a, b, c}, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(users.judge({a, c}, kNoPointPromised), kNoFinding);
  EXPECT_EQ(users.judge({a, c}, kMetadataOfOne), kOfNoPoint);
}

TEST(OnePoint, ATransactionIsAllOrNothing) {
  const Case one{
      {"create a", "sync", "create b", "begin", "create c", "create d", "commit", "create e"}, 1};
  const ObservedObject a = file("a", 0, 0, 0, 1), b = file("b", 0, 0, 0, 2),
                       c = file("c", 0, 0, 0, 3), d = file("d", 0, 0, 0, 4),
                       e = file("e", 0, 0, 0, 5);
  for (const Tree& tree : {Tree{a}, Tree{a, b}, Tree{a, b, c, d}, Tree{a, b, c, d, e}})
    EXPECT_EQ(one.judge(tree, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(one.judge({a, b, c}, kMetadataOfOne), kOfNoPoint);
  EXPECT_EQ(one.judge({a, b, c}, kNoPointPromised), kNoFinding);
  const Case without{
      one.lines, 1, {{3, workload::Outcome::skipped}, {6, workload::Outcome::skipped}}};
  EXPECT_EQ(without.judge({a, b, c}, kMetadataOfOne), kNoFinding)
      << "the file system has no transactions";
  const Case others{{"begin", "create a", "@1 begin", "@1 create b", "create c", "@1 create d",
                     "commit", "@1 commit", "begin", "create e", "create f"},
                    std::nullopt};
  EXPECT_EQ(others.judge({file("a", 0, 0, 0, 1), file("c", 0, 0, 0, 3)}, kMetadataOfOne),
            kNoFinding);
  EXPECT_EQ(others.judge({file("b", 0, 0, 0, 2), file("d", 0, 0, 0, 4)}, kMetadataOfOne),
            kNoFinding);
  EXPECT_EQ(others.judge({file("a", 0, 0, 0, 1), file("b", 0, 0, 0, 2)}, kMetadataOfOne),
            kOfNoPoint);
  EXPECT_EQ(others.judge({file("a", 0, 0, 0, 1), file("c", 0, 0, 0, 3), file("e", 0, 0, 0, 5)},
                         kMetadataOfOne),
            kOfNoPoint)
      << "uncommitted operations must not be visible";
}

TEST(OnePoint, AMovedFileHasOneName) {
  const Case moves{{"create a", "create b", "sync", "rename a c", "rename b a", "sync"}, 2};
  const ObservedObject b = file("b", 0, 0, 0, 2), c = file("c", 0, 0, 0, 1);
  EXPECT_EQ(moves.judge({b, c}, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(moves.judge({file("a", 0, 0, 0, 2), c}, kMetadataOfOne), kNoFinding);
  EXPECT_EQ(moves.judge({file("a", 0, 0, 0, 1), b}, kMetadataOfOne), kNoFinding);
}

}  // namespace
}  // namespace headcrash::oracle
