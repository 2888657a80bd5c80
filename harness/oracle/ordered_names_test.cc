// Tests the oracle's rules for file systems that write names in order and have no log
// (adapters::NameOrder::ordered). Trees are tested in pairs: one tree violates a rule, and the
// other obeys it.
#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

const Found kClean;

adapters::Promises ordered_promises() {
  return {.fsync_keeps_name = true,
          .names = adapters::NameOrder::ordered,
          .allocation_bytes = 8192,
          .passing_names = {".exchanged-"}};
}
adapters::Promises ordered_without_initialization() {
  adapters::Promises promises = ordered_promises();
  promises.exposes_stale_data = true;
  return promises;
}

Found lost() {
  return {{Verdict::lost_synced_data, Tier::de_facto}};
}

/// Appends a persistence point that covers none of the names in `lines`.
Case then_nothing(Lines lines) {
  lines.insert(lines.begin(), "create other");
  const std::size_t synced = lines.size() - 1;
  Case made{std::move(lines), std::nullopt};
  for (std::size_t i = 0; i <= synced; ++i)
    if (made.lines[i] == "sync") made.persisted = i;
  return made;
}

ObservedObject other() {
  return file("other", 0, 0, 0, 99);
}

TEST(OrderedNames, ASyncedFileIsFoundUnderAtLeastOneName) {  // rule R1
  const Case moved = then_nothing(
      {"mkdir A", "mkdir B", "create A/f", "write A/f 0 512 1 1", "sync", "rename A/f B/f"});
  const ObservedObject a = directory("A", 2), b = directory("B", 3);
  const adapters::Promises promises = ordered_promises();
  EXPECT_EQ(moved.judge({other(), a, b, file("A/f", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_EQ(moved.judge({other(), a, b, file("B/f", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_EQ(moved.judge({other(), a, b, file("A/f", 1, 1, 1, 4, 2), file("B/f", 1, 1, 1, 4, 2)},
                        promises),
            kClean);
  EXPECT_EQ(moved.judge({other(), a, b}, promises), lost());
  const ObservedObject found = file("lost+found/#4", 1, 1, 1, 4);
  EXPECT_EQ(moved.judge({other(), a, b, directory("lost+found", 5), found}, promises), lost())
      << "both directories were synced, so fsck had no reason to move the file";
}

TEST(OrderedNames, TheNameOfAReplacedFileIsNeverMissing) {
  const Case replaced = then_nothing(
      {"create a", "write a 0 512 1 1", "create b", "write b 0 512 2 2", "sync", "rename a b"});
  const adapters::Promises promises = ordered_promises();
  const ObservedObject a = file("a", 1, 1, 1, 4), old = file("b", 1, 2, 2, 5);
  EXPECT_EQ(replaced.judge({other(), a, old}, promises), kClean);
  EXPECT_EQ(replaced.judge({other(), file("b", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_NE(replaced.judge({other(), a}, promises), kClean);
}

TEST(OrderedNames, FsckRecoversObjectsOfANamelessDirectory) {
  const Case moved =
      then_nothing({"create f", "write f 0 512 1 1", "sync", "mkdir d", "rename f d/g"});
  const adapters::Promises promises = ordered_promises();
  EXPECT_EQ(moved.judge({other(), file("f", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_EQ(moved.judge({other(), directory("d", 5), file("d/g", 1, 1, 1, 4)}, promises), kClean);
  const ObservedObject place = directory("lost+found", 6), adrift = directory("lost+found/#5", 5);
  EXPECT_EQ(moved.judge({other(), place, adrift, file("lost+found/#5/g", 1, 1, 1, 4)}, promises),
            kClean);
  EXPECT_EQ(moved.judge({other(), place, adrift}, promises), lost());
  EXPECT_EQ(moved.judge({other(), place, adrift, file("lost+found/#5/g", 1, 9, 9, 4)}, promises),
            lost())
      << "the content belongs to another file";
  EXPECT_EQ(moved.judge({other(), place, file("lost+found/#4", 1, 1, 1, 4)}, promises), lost())
      << "the directory lost its name, not the file, and must be on the disk before the old name is removed";
  EXPECT_EQ(moved.judge({other()}, promises), lost());
}

TEST(OrderedNames, StaleContentDoesNotHideARenamedFile) {
  const Case moved = then_nothing(
      {"create a", "write a 0 512 1 1", "create b", "sync", "truncate b 512", "rename b a"});
  const adapters::Promises exposing = ordered_without_initialization();
  const Tree moved_there{other(), file("a", 1, 1, 1, 4)};
  const Tree both{other(), file("a", 1, 1, 1, 4, 2), file("b", 1, 1, 1, 4, 2)};
  EXPECT_EQ(moved.judge(moved_there, exposing), kClean)
      << "the new block of b shows the content of a";
  EXPECT_EQ(moved.judge(both, exposing), kClean);
  EXPECT_EQ(moved.judge(moved_there, ordered_promises()), lost());
  EXPECT_NE(moved.judge(both, ordered_promises()), kClean);
}

TEST(OrderedNames, AMovedDirectoryTakesItsContentAlong) {
  const Case moved =
      then_nothing({"mkdir d", "create d/a", "write d/a 0 512 1 1", "sync", "rename d e"});
  const adapters::Promises promises = ordered_promises();
  EXPECT_EQ(moved.judge({other(), directory("e", 3), file("e/a", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_EQ(moved.judge({other(), directory("d", 3), file("d/a", 1, 1, 1, 4)}, promises), kClean);
  EXPECT_NE(moved.judge({other(), directory("e", 3)}, promises), kClean);
  EXPECT_NE(moved.judge({other()}, promises), kClean);
}

TEST(OrderedNames, FsckRemovesOneNameOfADirectory) {
  const Case replaced = then_nothing({"mkdir d", "create d/a", "mkdir e", "sync", "rename d e"});
  const adapters::Promises promises = ordered_promises();
  const ObservedObject below = file("d/a", 0, 0, 0, 4);
  EXPECT_EQ(replaced.judge({other(), directory("d", 3), below}, promises), kClean)
      << "both names referred to d, and fsck removed the entry of e";
  EXPECT_EQ(replaced.judge({other(), directory("d", 3), below, directory("e", 5)}, promises),
            kClean);
  EXPECT_NE(replaced.judge({other(), directory("e", 5)}, promises), kClean) << "d is missing";
}

TEST(OrderedNames, FsckMayRemoveTheOldNameOfADirectoryAfterAnExchange) {
  const Case exchanged =
      then_nothing({"mkdir d", "create f", "write f 0 512 1 1", "sync", "rename-exchange d f"});
  const adapters::Promises promises = ordered_promises();
  EXPECT_EQ(
      exchanged.judge({other(), directory("f", 3), file(".exchanged-4", 1, 1, 1, 4)}, promises),
      kClean)
      << "d still referred to the directory, which is now f";
  EXPECT_NE(exchanged.judge({other(), directory("f", 3)}, promises), kClean);
}

TEST(OrderedNames, AnExchangeMayLeaveATemporaryName) {
  const Case exchanged = then_nothing({"create a", "write a 0 512 1 1", "create b",
                                       "write b 0 512 2 2", "sync", "rename-exchange a b", "sync"});
  Case cut = exchanged;
  cut.persisted = 5;
  const adapters::Promises promises = ordered_promises();
  const ObservedObject a = file("a", 1, 1, 1, 3, 2), b_is_a = file("b", 1, 1, 1, 3, 2);
  const ObservedObject third = file(".exchanged-4", 1, 2, 2, 4);
  EXPECT_EQ(cut.judge({other(), a, b_is_a, third}, promises), kClean)
      << "b temporarily has no other name";
  EXPECT_EQ(cut.judge({other(), a, b_is_a}, promises), lost());
  EXPECT_EQ(cut.judge({other(), file("a", 1, 2, 2, 4), file("b", 1, 1, 1, 3)}, promises), kClean);
  EXPECT_NE(cut.judge({other(), a, b_is_a, file(".exchanged-4", 1, 1, 1, 4)}, promises), kClean)
      << "the third name belongs to the target";
  EXPECT_EQ(exchanged.judge({other(), file("a", 1, 2, 2, 4, 2), file("b", 1, 1, 1, 3),
                             file(".exchanged-4", 1, 2, 2, 4, 2)},
                            promises),
            (Found{{Verdict::wrong_data, Tier::integrity}}))
      << "no exchange is in flight";
}

TEST(OrderedNames, AnotherThreadsSyncDoesNotWaitForAnExchange) {
  const adapters::Promises promises = ordered_promises();
  const auto with_sync_of = [](const char* sync) {
    return Case{{"create a", "write a 0 512 1 1", "create b", "write b 0 512 2 2", "sync", "join",
                 "rename-exchange a b", sync, "join", "create c"},
                7};
  };
  const Tree cut{file("a", 1, 1, 1, 3, 2), file("b", 1, 1, 1, 3, 2),
                 file(".exchanged-4", 1, 2, 2, 4)};
  EXPECT_EQ(with_sync_of("@1 sync").judge(cut, promises), kClean);
  EXPECT_NE(with_sync_of("sync").judge(cut, promises), kClean);
}

TEST(OrderedNames, FsckRemovesTheTemporaryNameOfAFileWithOtherLinks) {
  const Case exchanged = then_nothing(
      {"create a", "create b", "write b 0 512 2 2", "link b l", "sync", "rename-exchange a b"});
  const ObservedObject a = file("a", 0, 0, 0, 3, 2), b_is_a = file("b", 0, 0, 0, 3, 2);
  const adapters::Promises promises = ordered_promises();
  EXPECT_EQ(exchanged.judge({other(), a, b_is_a, file("l", 1, 2, 2, 4)}, promises), kClean);
  EXPECT_NE(exchanged.judge({other(), a, b_is_a}, promises), kClean);
  const Case moved =
      then_nothing({"create b", "write b 0 512 2 2", "link b l", "sync", "rename b c"});
  EXPECT_NE(moved.judge({other(), file("l", 1, 2, 2, 4)}, promises), kClean) << "no exchange";
}

TEST(OrderedNames, JudgesTheObjectOfANameInFlight) {
  const adapters::Promises promises = ordered_promises();
  const Case fresh = then_nothing({"create k", "sync", "create f", "write f 0 1024 1 1"});
  const ObservedObject k = file("k", 0, 0, 0, 3);
  ObservedObject stale = file("f", 2, 1, 1, 4);
  EXPECT_EQ(fresh.judge({other(), k, stale}, promises), kClean);
  EXPECT_EQ(fresh.judge({other(), k, file("f", 0, 1, 1, 4)}, promises), kClean);
  EXPECT_EQ(fresh.judge({other(), k}, promises), kClean);
  stale.runs = {{ContentRun::Kind::stamp, 0, 1, 1, 1}, {ContentRun::Kind::before_mkfs, 1, 1}};
  EXPECT_EQ(fresh.judge({other(), k, stale}, promises),
            (Found{{Verdict::stale_data, Tier::integrity}}));
  EXPECT_EQ(fresh.judge({other(), k, stale}, ordered_without_initialization()), kClean);
  EXPECT_NE(fresh.judge({other(), k, directory("f", 4)}, promises), kClean) << "a file was created";
  EXPECT_NE(fresh.judge({other(), k, symlink("f", "x")}, promises), kClean);
}

TEST(OrderedNames, AnInodeIsNotReusedWhileANameLeadsToIt) {  // rule R2
  const Case taken = then_nothing(
      {"create a", "write a 0 512 1 1", "sync", "unlink a", "create b", "write b 0 512 2 2"});
  for (const adapters::Promises& promises :
       {ordered_promises(), ordered_without_initialization()}) {
    EXPECT_EQ(taken.judge({other(), file("a", 1, 1, 1, 3)}, promises), kClean);
    EXPECT_EQ(taken.judge({other(), file("b", 1, 2, 2, 3)}, promises), kClean);
    EXPECT_NE(taken.judge({other(), file("a", 1, 2, 2, 3, 2), file("b", 1, 2, 2, 3, 2)}, promises),
              kClean);
    EXPECT_NE(taken.judge({other(), file("a", 1, 2, 2, 3)}, promises), kClean);
    EXPECT_NE(taken.judge({other(), directory("a", 3)}, promises), kClean);
  }
  const Case empty = then_nothing({"create a", "sync", "unlink a", "create b"});
  EXPECT_NE(empty.judge({other(), file("a", 0, 0, 0, 3, 2), file("b", 0, 0, 0, 3, 2)},
                        ordered_promises()),
            kClean);
}

TEST(OrderedNames, ATruncationInFlightShowsOldDataOrLess) {  // rule R2
  const Case cut_off = then_nothing({"create a", "write a 0 16384 1 1", "create b", "sync",
                                     "truncate a 0", "write b 0 16384 2 2"});
  for (const adapters::Promises& promises :
       {ordered_promises(), ordered_without_initialization()}) {
    const ObservedObject b = file("b", 32, 2, 2, 4);
    EXPECT_EQ(cut_off.judge({other(), file("a", 32, 1, 1, 3), b}, promises), kClean);
    EXPECT_EQ(cut_off.judge({other(), file("a", 0, 1, 1, 3), b}, promises), kClean);
    EXPECT_EQ(cut_off.judge({other(), file("a", 32, 2, 2, 3), b}, promises),
              (Found{{Verdict::stale_data, Tier::integrity}}));
  }
  const Case again = then_nothing(
      {"create a", "write a 0 8192 1 1", "sync", "truncate a 0", "write a 0 8192 1 2"});
  ObservedObject stale = file("a", 16, 9, 9, 3);
  EXPECT_EQ(again.judge({other(), stale}, ordered_without_initialization()), kClean)
      << "its block is new";
  EXPECT_NE(again.judge({other(), stale}, ordered_promises()), kClean);
  const Case in_place =
      then_nothing({"create a", "write a 0 8192 1 1", "sync", "write a 0 8192 1 2"});
  EXPECT_NE(in_place.judge({other(), stale}, ordered_without_initialization()), kClean);
}

TEST(OrderedNames, AGrowingFileMayExposeStaleDataInItsOldLastUnit) {
  const Case grows =
      then_nothing({"create a", "write a 0 1024 1 1", "sync", "write a 16384 512 1 2"});
  ObservedObject found = file("a", 2, 1, 1, 3);
  found.size_bytes = 16896;
  found.runs.push_back({ContentRun::Kind::before_mkfs, 2, 14});
  found.runs.push_back({ContentRun::Kind::zero, 16, 16});
  found.runs.push_back({ContentRun::Kind::stamp, 32, 1, 1, 2});
  EXPECT_EQ(grows.judge({other(), found}, ordered_without_initialization()), kClean);
  EXPECT_NE(grows.judge({other(), found}, ordered_promises()), kClean);
  found.runs[2].kind = ContentRun::Kind::before_mkfs;
  EXPECT_NE(grows.judge({other(), found}, ordered_without_initialization()), kClean) << "a hole";
}

TEST(OrderedNames, FsyncOfADirectoryKeepsItsEntriesAndTheirObjects) {
  const Case bare{{"mkdir d", "sync", "create d/a", "fsyncdir d"}, 3};
  EXPECT_EQ(bare.judge({directory("d", 2)}, ordered_promises()),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
  EXPECT_EQ(bare.judge({directory("d", 2), file("d/a", 0, 0, 0, 3)}, ordered_promises()), kClean);
  const Case left{{"mkdir d", "mkdir e", "create d/a", "write d/a 0 512 1 1", "sync",
                   "rename d/a e/a", "fsyncdir d"},
                  6};
  const ObservedObject d = directory("d", 2), e = directory("e", 3);
  EXPECT_EQ(left.judge({d, e, file("e/a", 1, 1, 1, 4)}, ordered_promises()), kClean);
  EXPECT_NE(left.judge({d, e, file("d/a", 1, 1, 1, 4)}, ordered_promises()), kClean)
      << "resurrected";
  EXPECT_NE(left.judge({d, e}, ordered_promises()), kClean) << "the removal waits for the new name";
}

}  // namespace
}  // namespace headcrash::oracle
