// Tests operations that remove, insert or share ranges. After a cut, moved blocks may be at their
// old or new positions until the operation is persistent, and then only at the new ones.
#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

constexpr std::uint64_t kUnit = 8;  // number of blocks in a unit of 4096 bytes
const Found kSound;
const Found kLostOfRange{{Verdict::lost_synced_data, Tier::posix}};

/// Returns a file that consists of stamps of file 1, in units of 4096 bytes. Unit i has the stamps
/// that were written for unit `from[i]`, or zeroes if `from[i]` is negative.
ObservedObject units(const std::string& path, const std::vector<int>& from,
                     std::uint32_t number = 1) {
  ObservedObject object = file(path, 0, number, 1, number);
  object.size_bytes = from.size() * kUnit * 512;
  for (std::uint64_t block = 0; block < from.size() * kUnit; ++block) {
    const int unit = from[block / kUnit];
    ContentRun run{.first_block = block, .blocks = 1};
    if (unit >= 0) {
      const std::uint64_t stamped = static_cast<std::uint64_t>(unit) * kUnit + block % kUnit;
      run.kind = stamped == block ? ContentRun::Kind::stamp : ContentRun::Kind::moved;
      run.file = 1, run.version = 1, run.stamped_block = stamped;
    }
    object.runs.push_back(run);
  }
  return object;
}

const Lines kCollapse{"create a", "write a 0 16384 1 1", "sync", "collapse a 4096 4096", "fsync a"};

TEST(Ranges, ACollapseMovesTheDataAfterIt) {
  const Case synced{kCollapse, 4};
  EXPECT_EQ(synced.judge({units("a", {0, 2, 3})}, {}), kSound);
  EXPECT_NE(synced.judge({units("a", {0, 1, 2, 3})}, {}), kSound) << "the collapse was synced";
  EXPECT_EQ(synced.judge({units("a", {0, 1, 2})}, {}), kLostOfRange) << "truncated instead";
  EXPECT_EQ(synced.judge({units("a", {0, -1, 3})}, {}), kLostOfRange);
  EXPECT_NE(synced.judge({units("a", {0, 3, 2})}, {}), kSound) << "complete, but in another order";
}

TEST(Ranges, ACollapseInFlightMayBePartial) {
  const Case cut{kCollapse, 2};
  for (const std::vector<int>& from :
       {std::vector<int>{0, 1, 2, 3}, {0, 2, 3}, {0, 2, -1, 3}, {0, 1, 3}})
    EXPECT_EQ(cut.judge({units("a", from)}, {}), kSound);
  EXPECT_NE(cut.judge({units("a", {2, 2, 3})}, {}), kSound)
      << "data before the range must not move";
  EXPECT_NE(cut.judge({units("a", {0, 3, 3})}, {}), kSound)
      << "data from two units further on were never there";
}

TEST(Ranges, AnInsertedRangeIsAHoleAndMovesLaterData) {
  const Case synced{{"create a", "write a 0 12288 1 1", "sync", "insert a 4096 4096", "fsync a"},
                    4};
  EXPECT_EQ(synced.judge({units("a", {0, -1, 1, 2})}, {}), kSound);
  EXPECT_EQ(synced.judge({units("a", {0, 1, 1, 2})}, {}),
            (Found{{Verdict::stale_data, Tier::posix}}))
      << "the hole shows earlier data";
  EXPECT_NE(synced.judge({units("a", {0, -1, 2, 2})}, {}), kSound);
  Case cut = synced;
  cut.persisted = 2;
  for (const std::vector<int>& from : {std::vector<int>{0, 1, 2}, {0, -1, 1, 2}, {0, 1, -1, 2}})
    EXPECT_EQ(cut.judge({units("a", from)}, {}), kSound);
}

TEST(Ranges, AWriteAfterAnUnsyncedMoveMayAppearAtTheOldOffset) {
  const Case cut{{"create a", "write a 0 16384 1 1", "sync", "collapse a 0 4096",
                  "write a 0 4096 1 2", "fsync a"},
                 2};
  ObservedObject in_place = units("a", {0, 1, 2, 3});
  // The write is on the disk, but the collapse before it is not, so the blocks are at their old
  // positions.
  for (std::uint64_t i = 0; i < kUnit; ++i) {
    ContentRun& run = in_place.runs[kUnit + i];
    run.kind = ContentRun::Kind::moved;
    run.version = 2, run.stamped_block = i;
  }
  EXPECT_EQ(cut.judge({in_place}, {}), kSound);
  in_place.runs[kUnit].version = 3;
  EXPECT_NE(cut.judge({in_place}, {}), kSound);
}

TEST(Ranges, ALaterCollapseMayMoveAnODsyncWrite) {
  const Case cut{{"create a", "write a 0 12288 1 1", "sync", "write-dsync a 4096 4096 1 2",
                  "collapse a 0 4096", "fsync a"},
                 3};
  ObservedObject moved = units("a", {1, 2});
  for (std::uint64_t i = 0; i < kUnit; ++i) moved.runs[i].version = 2;
  EXPECT_EQ(cut.judge({moved}, {}), kSound);
}

TEST(Ranges, ACloneShowsTheSourceAtCloneTime) {
  const Case synced{{"create a", "write a 0 16384 1 1", "create b", "sync",
                     "clone a 4096 8192 b 4096", "write a 0 16384 1 2", "fsync b"},
                    6};
  const Tree a{units("a", {0, 1, 2, 3})};
  const auto with = [&](ObservedObject b) { return Tree{a[0], std::move(b)}; };
  EXPECT_EQ(synced.judge(with(units("b", {-1, 1, 2}, 2)), {}), kSound);
  EXPECT_EQ(synced.judge(with(units("b", {-1, -1, -1}, 2)), {}), kLostOfRange);
  ObservedObject later = units("b", {-1, 1, 2}, 2);
  for (std::uint64_t i = kUnit; i < 3 * kUnit; ++i) later.runs[i].version = 2;
  EXPECT_NE(synced.judge(with(later), {}), kSound)
      << "the clone must not have later changes of the source";
  Case cut = synced;
  cut.persisted = 3;
  EXPECT_EQ(cut.judge(with(units("b", {}, 2)), {}), kSound);
  EXPECT_EQ(cut.judge(with(units("b", {-1, -1, 2}, 2)), {}), kSound);
  EXPECT_NE(cut.judge(with(units("b", {-1, 2, 2}, 2)), {}), kSound);
}

TEST(Ranges, DedupeMustNotShareDifferentRanges) {
  const Case dedupe{{"create a", "write a 0 8192 1 1", "create b", "write b 0 4096 2 2", "sync",
                     "dedupe a 0 4096 b 0", "fsync b"},
                    6};
  EXPECT_EQ(dedupe.judge({units("a", {0, 1}), file("b", kUnit, 2, 2, 2)}, {}), kSound);
  EXPECT_EQ(dedupe.judge({units("a", {0, 1}), units("b", {0}, 2)}, {}),
            (Found{{Verdict::stale_data, Tier::integrity}}))
      << "different ranges must not be shared";
}

TEST(Ranges, MustBeInsideTheFile) {
  for (const Lines& lines :
       {Lines{"create a", "write a 0 8192 1 1", "collapse a 0 8192"},
        {"create a", "write a 0 8192 1 1", "insert a 8192 4096"},
        {"create a", "write a 0 8192 1 1", "create b", "clone a 0 12288 b 0"}}) {
    std::vector<workload::Operation> list;
    for (const std::string& line : lines)
      list.push_back(workload::parse_operation(line, "test").value());
    EXPECT_FALSE(Oracle::follow(list, {})) << lines.back();
  }
}

}  // namespace
}  // namespace headcrash::oracle
