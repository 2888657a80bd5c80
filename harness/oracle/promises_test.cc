// Tests behaviour that some file systems may show and others may not. Each behaviour must be
// accepted if the promises permit it. Otherwise, it must give a finding in the right tier.
#include <gtest/gtest.h>

#include <array>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/testing/judged_case.h"
#include "harness/workload/ace.h"
#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;

const adapters::Promises kPlain;
const adapters::Promises kNames{.fsync_keeps_name = true};
const Found kNothing;

TEST(Promises, OnlyNoAutoDaAllocMayLoseBothVersionsOfAnUnsyncedReplacement) {
  const Case replace{{"create a", "write a 0 1024 1 1", "create log", "sync", "create t",
                      "write t 0 1024 2 2", "rename t a", "append log 0 512 3 3", "fsync log"},
                     8};
  const ObservedObject log = file("log", 1, 3, 3, 9);
  const Tree neither{file("a", 0, 0, 0, 2), log};
  const adapters::Promises xfs = adapters::load_adapter("xfs")->promises;
  const adapters::Promises ext4 = adapters::load_adapter("ext4")->promises;
  EXPECT_EQ(replace.judge(neither, xfs), kNothing);
  EXPECT_EQ(replace.judge(neither, ext4), (Found{{Verdict::zero_length, Tier::de_facto}}));
  ObservedObject holes = file("a", 2, 2, 2, 2);
  holes.runs[0].kind = ContentRun::Kind::zero;
  EXPECT_EQ(replace.judge({holes, log}, xfs), kNothing);
  EXPECT_EQ(replace.judge({holes, log}, ext4),
            (Found{{Verdict::lost_synced_data, Tier::de_facto}}));
  for (const adapters::Promises& promises : {xfs, ext4}) {
    EXPECT_EQ(replace.judge({file("a", 2, 2, 2, 2), log}, promises), kNothing);
    EXPECT_EQ(replace.judge({file("a", 2, 1, 1, 1), log, file("t", 0, 0, 0, 2)}, promises),
              kNothing);
    EXPECT_NE(replace.judge({log}, promises), kNothing) << "the name always exists";
  }
}

TEST(Promises, OwnNamesMatchPatternsOnlyInTheRoot) {
  const Case synced{{"mkdir d", "sync"}, 1};
  const adapters::Promises fat{.own_names = {"FSCK*.REC"}};
  const Tree recovered{directory("d", 2), file("FSCK0001.REC", 1, 7, 7, 9)};
  EXPECT_EQ(synced.judge(recovered, fat), kNothing);
  EXPECT_NE(synced.judge(recovered, kPlain), kNothing);
  EXPECT_NE(synced.judge({directory("d", 2), file("d/FSCK0001.REC", 1, 7, 7, 9)}, fat), kNothing);
  EXPECT_NE(synced.judge({directory("d", 2), file("FSCK0001", 1, 7, 7, 9)}, fat), kNothing);
}

TEST(Promises, OnlyF2fsPosixModeMayLoseARenamedFileWhoseNameIsReused) {  // generic/342
  const Case taken{{"create a", "write a 0 512 1 1", "sync", "rename a b", "create a",
                    "write a 0 512 2 2", "fsync a"},
                   6};
  const Tree only_new{file("a", 1, 2, 2, 2)};
  EXPECT_EQ(taken.judge(only_new, kNames), (Found{{Verdict::lost_synced_data, Tier::de_facto}}));
  EXPECT_EQ(taken.judge(only_new, {.fsync_keeps_name = true, .renamed_file_survives = false}),
            kNothing);
  EXPECT_EQ(taken.judge({file("a", 1, 2, 2, 2), file("b", 1, 1, 1, 1)}, kNames), kNothing);
  const Case not_taken{
      {"create a", "write a 0 512 1 1", "sync", "rename a b", "create c", "fsync c"}, 5};
  EXPECT_NE(not_taken.judge({file("c", 0, 0, 0, 3)}, {.renamed_file_survives = false}), kNothing);
}

TEST(Promises, JudgesANamelessFileOnceItHasAName) {
  const Case linked{{"create k", "sync", "tmpfile %f", "write %f 0 512 1 1", "fsync %f",
                     "link %f a", "fsync %f", "fsyncdir ."},
                    4};
  const ObservedObject k = file("k", 0, 0, 0, 9), a = file("a", 1, 1, 1, 1);
  EXPECT_EQ(linked.judge({k}, kNames), kNothing);
  EXPECT_EQ(linked.judge({k, a}, kNames), kNothing);
  EXPECT_NE(linked.judge({k, file("a", 0, 0, 0, 1)}, kNames), kNothing)
      << "its data were synced before";
  Case synced = linked;
  synced.persisted = 6;
  EXPECT_EQ(synced.judge({k}, kNames), kNothing) << "fsync had no name to keep";
  EXPECT_NE(synced.judge({k}, {.fsync_keeps_name = true, .fsync_keeps_links = true}), kNothing);
  synced.persisted = 7;
  EXPECT_NE(synced.judge({k}, kPlain), kNothing);
  EXPECT_EQ(synced.judge({k, a}, kPlain), kNothing);
  std::vector<Operation> list;
  for (const char* line : {"tmpfile %f", "link %f a", "unlink a", "link %f b"})
    list.push_back(workload::parse_operation(line, "test").value());
  EXPECT_FALSE(Oracle::follow(list, {}));
}

TEST(Promises, RemountAndFreezePersistEverything) {
  for (const char* line : {"remount", "remount-ro", "freeze"}) {
    const Case kept{{"create a", "write a 0 512 1 1", line}, 2};
    const Found lost{{Verdict::lost_synced_data, Tier::documented}};
    EXPECT_EQ(kept.judge({}, kPlain), lost) << line;
    EXPECT_EQ(kept.judge({file("a", 1, 0, 0, 1)}, kPlain).size(), 1U) << line;
    EXPECT_EQ(kept.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing) << line;
  }
  EXPECT_EQ((Case{{"create k", "fsyncdir .", "create a", "evict"}, 1}.judge({file("k", 0, 0, 0, 2)},
                                                                            kPlain)),
            kNothing);
}

TEST(Promises, FsyncOfAnOpenDirectoryKeepsItsNamesAtAnyPath) {
  const Case held{{"mkdir d", "sync", "open d %d", "create d/a", "rename d e", "fsync %d"}, 5};
  const ObservedObject a = file("e/a", 0, 0, 0, 2);
  EXPECT_EQ(held.judge({directory("e", 1), a}, kPlain), kNothing);
  EXPECT_EQ(held.judge({directory("d", 1), file("d/a", 0, 0, 0, 2)}, kPlain), kNothing)
      << "the directory's name is not promised";
  EXPECT_NE(held.judge({directory("d", 1), file("d/a", 0, 0, 0, 2)}, kNames), kNothing);
  EXPECT_NE(held.judge({directory("e", 1)}, kPlain), kNothing);
  std::vector<Operation> list;
  for (const char* line : {"mkdir d", "open d %d", "write %d 0 512 1 1"})
    list.push_back(workload::parse_operation(line, "test").value());
  EXPECT_FALSE(Oracle::follow(list, {}));
}

/// Returns a file "a" with a single block that two writes have filled. Bytes `first` to `end` come
/// from the newer write.
ObservedObject in_parts(std::uint32_t version, std::uint32_t newer, std::size_t first,
                        std::size_t end) {
  std::array<std::byte, workload::kStampBytes> block{}, fresh;
  if (version != 0) workload::write_stamp({1, version, 0}, block);
  workload::write_stamp({1, newer, 0}, fresh);
  std::copy(fresh.begin() + static_cast<std::ptrdiff_t>(first),
            fresh.begin() + static_cast<std::ptrdiff_t>(end),
            block.begin() + static_cast<std::ptrdiff_t>(first));
  ObservedObject a = file("a", 1, 1, newer, 1);
  a.runs[0].kind = ContentRun::Kind::foreign;
  a.runs[0].head.assign(block.begin(), block.begin() + 32);
  return a;
}

TEST(Promises, APartialBlockWriteKeepsTheOtherBytes) {
  const Case twice{{"create a", "write a 0 512 1 1", "write a 28 484 1 2", "fsync a", "fsyncdir ."},
                   4};
  EXPECT_EQ(twice.judge({in_parts(1, 2, 28, 512)}, kPlain), kNothing);
  EXPECT_NE(twice.judge({in_parts(1, 3, 28, 512)}, kPlain), kNothing)
      << "bytes that were never written";
  EXPECT_NE(twice.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing) << "the second write is lost";
  EXPECT_NE(twice.judge({file("a", 1, 1, 2, 1)}, kPlain), kNothing)
      << "more bytes than were written";
  Case before = twice;
  before.lines.insert(before.lines.begin() + 2, "fsync a");
  before.persisted = 2;
  EXPECT_EQ(before.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing);
  EXPECT_EQ(before.judge({in_parts(1, 2, 28, 512)}, kPlain), kNothing);
  const Case alone{{"create a", "write a 28 484 1 2", "fsync a", "fsyncdir ."}, 3};
  EXPECT_EQ(alone.judge({in_parts(0, 2, 28, 512)}, kPlain), kNothing);
  EXPECT_NE(alone.judge({file("a", 1, 0, 0, 1)}, kPlain), kNothing) << "zeroes";
  // The first 12 bytes of both stamps, the magic number and the file number, are equal. The second
  // write replaces all bytes after them, so the block is a complete stamp of version 2.
  const Case same{{"create a", "write a 0 512 1 1", "write a 12 500 1 2", "fsync a", "fsyncdir ."},
                  4};
  EXPECT_EQ(same.judge({file("a", 1, 1, 2, 1)}, kPlain), kNothing);
  EXPECT_NE(same.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing);
}

/// Returns a file in which some bytes of the stamp are zero.
ObservedObject with_zeroes(std::uint32_t version, std::size_t first, std::size_t end) {
  std::array<std::byte, workload::kStampBytes> block;
  workload::write_stamp({1, version, 0}, block);
  for (std::size_t at = first; at < end; ++at) block[at] = std::byte{0};
  ObservedObject a = file("a", 1, 1, version, 1);
  a.runs[0].kind = ContentRun::Kind::foreign;
  a.runs[0].head.assign(block.begin(), block.begin() + 32);
  return a;
}

TEST(Promises, ASyncedHoleInsideABlockSurvives) {
  const Case punched{
      {"create a", "write a 0 512 1 1", "sync", "punch a 25 3", "fsync a", "write a 0 512 1 2"}, 4};
  EXPECT_EQ(punched.judge({with_zeroes(1, 25, 28)}, kPlain), kNothing);
  EXPECT_EQ(punched.judge({file("a", 1, 1, 2, 1)}, kPlain), kNothing)
      << "the later write may have been executed";
  EXPECT_EQ(punched.judge({file("a", 1, 1, 1, 1)}, kPlain),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
  EXPECT_NE(punched.judge({with_zeroes(1, 25, 29)}, kPlain), kNothing)
      << "one byte beyond the hole";
  EXPECT_NE(punched.judge({with_zeroes(1, 24, 28)}, kPlain), kNothing);
  Case open = punched;
  open.persisted = 2;
  EXPECT_EQ(open.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing);
  EXPECT_EQ(open.judge({with_zeroes(1, 25, 28)}, kPlain), kNothing);
}

TEST(Promises, AHoleOverAWholeStampIsZeroes) {
  const Case all{{"create a", "write a 0 1536 1 1", "sync", "zero-keep a 1 1300", "fsync a"}, 4};
  ObservedObject a = file("a", 3, 1, 1, 1);
  a.runs = {{.kind = ContentRun::Kind::zero, .first_block = 0, .blocks = 2},
            with_zeroes(1, 0, 277).runs[0]};
  a.runs[1].first_block = 2;
  std::array<std::byte, workload::kStampBytes> last;
  workload::write_stamp({1, 1, 2}, last);
  a.runs[1].head.assign(32, std::byte{0});
  EXPECT_EQ(all.judge({a}, kPlain), kNothing);
  a.runs[0] = {
      .kind = ContentRun::Kind::stamp, .first_block = 0, .blocks = 2, .file = 1, .version = 1};
  EXPECT_NE(all.judge({a}, kPlain), kNothing);
}

TEST(Promises, ASyncedFifoSurvives) {
  const Case made{{"mknod p fifo", "fsyncdir ."}, 1};
  ObservedObject pipe = file("p", 0, 0, 0, 1);
  EXPECT_NE(made.judge({pipe}, kPlain), kNothing) << "a regular file instead of a fifo";
  EXPECT_NE(made.judge({}, kPlain), kNothing);
  pipe.type = FileType::fifo;
  EXPECT_EQ(made.judge({pipe}, kPlain), kNothing);
}

TEST(Promises, MsyncPersistsItsRangeAndSyncFileRangePersistsNothing) {
  const auto seen = [](std::uint32_t first, std::uint32_t second) {
    ObservedObject a = file("a", 16, 1, first, 1);
    a.runs[0].blocks = 8;
    a.runs.push_back({ContentRun::Kind::stamp, 8, 8, 1, second});
    return Tree{a};
  };
  const Found lost{{Verdict::lost_synced_data, Tier::posix}};
  const Case kept{
      {"create a", "write a 0 8192 1 1", "sync", "store a 0 8192 1 2", "msync a 4096 4096"}, 4};
  EXPECT_EQ(kept.judge(seen(2, 2), kPlain), kNothing);
  EXPECT_EQ(kept.judge(seen(1, 2), kPlain), kNothing) << "only the synced page is promised";
  EXPECT_EQ(kept.judge(seen(2, 1), kPlain), lost);
  EXPECT_EQ(kept.judge(seen(2, 1), {.fsync_persists = false}), kNothing);
  const Case longer{{"create a", "sync", "write a 0 8192 1 1", "msync a 0 4096"}, 3};
  EXPECT_EQ(longer.judge({file("a", 8, 1, 1, 1)}, kPlain), kNothing) << "the file has this size";
  EXPECT_NE(longer.judge({file("a", 4, 1, 1, 1)}, kPlain), kNothing);
  const Case nothing{{"create a", "write a 0 8192 1 1", "sync", "store a 0 8192 1 2",
                      "sync-range a 0 8192", "create b", "fsync b"},
                     6};
  Tree old = seen(1, 1);
  old.push_back(file("b", 0, 0, 0, 2));
  EXPECT_EQ(nothing.judge(old, kNames), kNothing);
}

TEST(Promises, WithoutAJournalARenameMayShowBothNamesOrNeither) {
  const Case rename{{"create a", "write a 0 512 1 1", "sync", "rename a b", "create c", "fsync c"},
                    5};
  const ObservedObject c = file("c", 0, 0, 0, 3);
  const adapters::Promises ext2{.names = adapters::NameOrder::unordered};
  const Tree both{file("a", 1, 1, 1, 1, 2), file("b", 1, 1, 1, 1, 2), c};
  EXPECT_EQ(rename.judge(both, kPlain), (Found{{Verdict::non_atomic_rename, Tier::de_facto}}));
  EXPECT_EQ(rename.judge(both, ext2), kNothing);
  EXPECT_EQ(rename.judge({c}, kPlain), (Found{{Verdict::lost_synced_data, Tier::de_facto}}));
  EXPECT_EQ(rename.judge({c}, ext2), kNothing);
  const Case link{{"symlink x s", "create c", "fsync c"}, 2};
  EXPECT_EQ(link.judge({symlink("s", ""), c}, ext2), kNothing);
  EXPECT_EQ(link.judge({symlink("s", ""), c}, kPlain),
            (Found{{Verdict::zero_length, Tier::integrity}}));
}

TEST(Promises, UnorderedNamesInFlightMayShowAnotherFileOrLoseTheirSubtree) {  // ext2, minix
  const adapters::Promises ext2 = adapters::load_adapter("ext2")->promises;
  const adapters::Promises ext4 = adapters::load_adapter("ext4")->promises;
  // "b" reused the inode of the removed file "a", and was synced. The entry "a" was not removed on
  // the disk, so it refers to the inode of "b".
  const Case taken{{"create a", "write a 0 512 1 1", "sync", "unlink a", "create b",
                    "write b 0 512 2 2", "fsync b", "fsyncdir ."},
                   6};
  const Tree two_names{file("a", 1, 2, 2, 1, 2), file("b", 1, 2, 2, 1, 2)};
  EXPECT_EQ(taken.judge(two_names, ext2), kNothing);
  EXPECT_NE(taken.judge(two_names, ext4), kNothing);
  Case synced = taken;
  synced.persisted = 7;
  EXPECT_NE(synced.judge(two_names, ext2), kNothing)
      << "the directory was synced, so a must not exist";
  EXPECT_NE(synced.judge({}, ext2), kNothing);
  EXPECT_EQ(synced.judge({file("b", 1, 2, 2, 1)}, ext2), kNothing);
  // On the disk, the rename has removed the old name, but has not added the new one. fsck therefore
  // moves the directory's contents to lost+found.
  const Case moved{{"mkdir d", "create d/a", "write d/a 0 512 1 1", "create k", "write k 0 512 2 2",
                    "sync", "rename d e", "fsync k"},
                   7};
  const ObservedObject kept = file("k", 1, 2, 2, 7);
  EXPECT_EQ(moved.judge({kept}, ext2), kNothing);
  EXPECT_NE(moved.judge({kept}, ext4), kNothing);
  EXPECT_NE(moved.judge({directory("d", 3), file("d/a", 1, 1, 1, 4)}, ext2), kNothing)
      << "k was synced and not changed since";
}

TEST(Promises,
     // e2fsck removes directory entries whose inode was not written.
     UnorderedDirectoryFsyncKeepsOnlySyncedObjects) {
  const adapters::Promises ext2 = adapters::load_adapter("ext2")->promises;
  const Case bare{{"mkdir d", "sync", "create d/a", "fsyncdir d"}, 3};
  EXPECT_EQ(bare.judge({directory("d", 2)}, ext2), kNothing);
  EXPECT_EQ(bare.judge({directory("d", 2)}, kPlain),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
  const Case synced{{"mkdir d", "sync", "create d/a", "fsync d/a", "fsyncdir d"}, 4};
  EXPECT_EQ(synced.judge({directory("d", 2)}, ext2),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
}

TEST(Promises, AnUnorderedNewNameShowsItsSyncedFileOrNothing) {
  const adapters::Promises ext2 = adapters::load_adapter("ext2")->promises;
  const Case appended{
      {"create a", "append a 0 512 1 1", "fsync a", "append a 512 512 1 2", "fsync a"}, 4};
  EXPECT_EQ(appended.judge({}, ext2), kNothing);
  ObservedObject whole = file("a", 1, 1, 1, 1);
  whole.size_bytes = 1024;
  whole.runs.push_back({ContentRun::Kind::stamp, 1, 1, 1, 2});
  EXPECT_EQ(appended.judge({whole}, ext2), kNothing);
  EXPECT_EQ(appended.judge({file("a", 1, 1, 1, 1)}, ext2),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
  Case earlier = appended;
  earlier.persisted = 2;
  EXPECT_EQ(earlier.judge({file("a", 1, 1, 1, 1)}, ext2), kNothing);
  Case unsynced = appended;
  unsynced.persisted = std::nullopt;
  EXPECT_EQ(unsynced.judge({file("a", 0, 1, 1, 1)}, ext2), kNothing) << "its inode was not written";
  // These operations remove "a"; "b" may then reuse its inode.
  Case removed = appended;
  removed.lines.insert(removed.lines.end(),
                       {"unlink a", "create b", "write b 0 512 2 2", "fsync b"});
  removed.persisted = 8;
  EXPECT_EQ(removed.judge({file("a", 1, 2, 2, 1, 2), file("b", 1, 2, 2, 1, 2)}, ext2), kNothing);
}

TEST(Promises, AnUnorderedGrowingFileMayBeTooLongButNotTooShort) {
  const adapters::Promises ext2 = adapters::load_adapter("ext2")->promises;
  const Case grows{{"create a", "write a 0 512 1 1", "sync", "write a 512 512 1 2", "fsync a"}, 2};
  // The file after e2fsck has extended it to the end of its last block.
  ObservedObject found = file("a", 1, 1, 1, 1);
  found.size_bytes = 4096;
  found.runs.push_back({ContentRun::Kind::foreign, 1, 7});
  EXPECT_EQ(grows.judge({found}, ext2), kNothing);
  EXPECT_NE(grows.judge({found}, {.exposes_stale_data = true}), kNothing);
  EXPECT_EQ(grows.judge({file("a", 0, 1, 1, 1)}, ext2),
            (Found{{Verdict::zero_length, Tier::documented}}))
      << "by sync, which POSIX lets return early";
  Case done = grows;
  done.persisted = 4;
  EXPECT_NE(done.judge({found}, ext2), kNothing) << "the length was synced";
}

TEST(Promises, AnUnallocatedBlockMayShowAnOldBlockOfTheSameFile) {
  const adapters::Promises writeback{.exposes_stale_data = true};
  const Case cut_off{{"create a", "write a 0 512 1 1", "truncate a 0", "sync", "write a 0 512 1 2"},
                     3};
  const Tree first_version{file("a", 1, 1, 1, 1)};
  EXPECT_EQ(cut_off.judge(first_version, kPlain), (Found{{Verdict::stale_data, Tier::documented}}));
  EXPECT_EQ(cut_off.judge(first_version, writeback), kNothing);
  const Case in_place{
      {"create a", "write a 0 512 1 1", "write a 0 512 1 2", "sync", "write a 0 512 1 3"}, 3};
  EXPECT_EQ(in_place.judge(first_version, writeback),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(Promises, AFreedBlockMayShowAnOlderBlockOfTheSameFile) {
  const adapters::Promises writeback{.exposes_stale_data = true};
  const std::vector<std::string> twice{"create a", "write a 0 512 1 1", "write a 0 512 1 2",
                                       "fsync a"};
  const auto and_then = [&](std::initializer_list<const char*> more) {
    Case both{twice, 3};
    both.lines.insert(both.lines.end(), more.begin(), more.end());
    return both;
  };
  const Tree first_version{file("a", 1, 1, 1, 1)};
  EXPECT_EQ(and_then({"truncate a 0", "write a 0 512 1 3"}).judge(first_version, writeback),
            kNothing);
  EXPECT_NE(and_then({"truncate a 0", "write a 0 512 1 3"}).judge(first_version, kPlain), kNothing);
  EXPECT_NE(and_then({"truncate a 0"}).judge(first_version, writeback), kNothing)
      << "the file has no new block";
  EXPECT_NE(and_then({"write a 0 512 1 3", "truncate a 0"}).judge(first_version, writeback),
            kNothing);
  EXPECT_NE(and_then({"write a 0 512 1 3"}).judge(first_version, writeback), kNothing)
      << "in place";
  const Case behind{{"create a", "write a 0 1024 1 1", "write a 0 1024 1 2", "fsync a",
                     "punch a 0 512", "write a 512 512 1 3"},
                    3};
  ObservedObject a = file("a", 2, 1, 2, 1);
  EXPECT_EQ(behind.judge({a}, writeback), kNothing);
  a.runs = {{ContentRun::Kind::stamp, 0, 1, 1, 2}, {ContentRun::Kind::stamp, 1, 1, 1, 1}};
  EXPECT_NE(behind.judge({a}, writeback), kNothing) << "the block after the hole was not freed";
}

TEST(Promises, StaleStampsDoNotIdentifyAFile) {
  const adapters::Promises writeback{.exposes_stale_data = true};
  const Case taken_later{{"create a", "create b", "write b 0 512 2 1", "sync", "allocate a 0 512",
                          "fsync a", "rename b a"},
                         3};
  ObservedObject allocated = file("a", 1, 2, 1, 1);
  allocated.inode = 77;
  const Tree both{allocated, file("b", 1, 2, 1, 2)};
  EXPECT_EQ(taken_later.judge(both, writeback), kNothing);
  EXPECT_NE(taken_later.judge(both, kPlain), kNothing);
}

TEST(Promises, StaleBytesMayFillAllocationUnits) {
  const Case hole{
      {"create a", "write a 0 8192 1 1", "punch a 0 8192", "sync", "allocate a 4096 512"}, 3};
  ObservedObject found = file("a", 16, 1, 1, 1);
  found.runs = {{.first_block = 0, .blocks = 7},
                {ContentRun::Kind::stamp, 7, 2, 1, 1},
                {.first_block = 9, .blocks = 7}};
  EXPECT_EQ(hole.judge({found}, {.exposes_stale_data = true, .allocation_bytes = 8192}), kNothing);
  EXPECT_NE(hole.judge({found}, {.exposes_stale_data = true}), kNothing);
  EXPECT_NE(hole.judge({found}, {.allocation_bytes = 8192}), kNothing);
}

TEST(Promises, ContentOfAnUnorderedExchangedDirectoryIsNotJudged) {
  const adapters::Promises unordered{.fsync_keeps_name = true,
                                     .names = adapters::NameOrder::unordered};
  const adapters::Promises ordered{.fsync_keeps_name = true, .names = adapters::NameOrder::ordered};
  const Case exchanged{
      {"mkdir A", "create A/foo", "mkdir B", "sync", "rename-exchange B A", "fsyncdir A"}, 5};
  const Tree done{directory("A", 3), directory("B", 2), file("B/foo", 0, 0, 0, 4)};
  const Tree gone{directory("A", 3), directory("B", 2)};
  EXPECT_EQ(exchanged.judge(done, unordered), kNothing);
  EXPECT_EQ(exchanged.judge(done, ordered), kNothing);
  EXPECT_EQ(exchanged.judge(done, kNames), kNothing);
  EXPECT_EQ(exchanged.judge(gone, unordered), kNothing);
  EXPECT_EQ(exchanged.judge(gone, ordered), (Found{{Verdict::lost_synced_data, Tier::de_facto}}));
  EXPECT_NE(exchanged.judge(gone, kNames), kNothing);
  const Case stays{{"mkdir A", "create A/foo", "sync", "create b", "fsync b"}, 4};
  for (const adapters::Promises& promises : {unordered, ordered})
    EXPECT_NE(stays.judge({directory("A", 3), file("b", 0, 0, 0, 5)}, promises), kNothing);
}

TEST(Promises, StaleBlocksMayAppearOnlyIfPermittedAndUnsynced) {
  const Case writes{{"create a", "sync", "write a 0 512 1 1", "fsync a", "write a 512 512 1 2"}, 3};
  const adapters::Promises writeback{.exposes_stale_data = true};
  ObservedObject stale = file("a", 2, 1, 1, 1);
  stale.runs = {{ContentRun::Kind::stamp, 0, 1, 1, 1}, {ContentRun::Kind::stamp, 1, 1, 99, 5}};
  EXPECT_EQ(writes.judge({stale}, kPlain), (Found{{Verdict::stale_data, Tier::integrity}}));
  EXPECT_EQ(writes.judge({stale}, writeback), kNothing);
  stale.runs = {{ContentRun::Kind::stamp, 0, 1, 99, 5}, {ContentRun::Kind::stamp, 1, 1, 1, 2}};
  EXPECT_EQ(writes.judge({stale}, writeback), (Found{{Verdict::stale_data, Tier::integrity}}));
}

TEST(Promises, FsyncOfANewFileKeepsItsParentsIfDocumented) {
  const Case deep{{"mkdir d", "mkdir d/e", "create d/e/a", "write d/e/a 0 512 1 1", "fsync d/e/a"},
                  4};
  EXPECT_EQ(deep.judge({}, kPlain), kNothing);
  EXPECT_EQ(deep.judge({}, kNames), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(deep.judge({directory("d", 2), directory("d/e", 3)}, kNames),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(Promises, FsyncPersistsARenamedParentDirectoryOnlyIfDocumented) {
  const adapters::Promises moved_path{.fsync_keeps_name = true, .fsync_keeps_moved_path = true};
  const adapters::Promises ordered{.fsync_keeps_name = true,
                                   .fsync_keeps_moved_path = true,
                                   .names = adapters::NameOrder::ordered};
  const Case moved{
      {"mkdir d", "create d/a", "write d/a 0 512 1 1", "sync", "rename d e", "fsync e/a"}, 5};
  const Tree before{directory("d", 2), file("d/a", 1, 1, 1, 3)};
  const Tree after{directory("e", 2), file("e/a", 1, 1, 1, 3)};
  EXPECT_EQ(moved.judge(before, kNames), kNothing);
  for (const adapters::Promises& promises : {moved_path, ordered}) {
    EXPECT_EQ(moved.judge(before, promises),
              (Found{{Verdict::lost_synced_data, Tier::documented}}));
    EXPECT_EQ(moved.judge(after, promises), kNothing);
  }
}

TEST(Promises, Ext4WithoutAJournalSyncsParentsOnlyOfNewFiles) {
  const adapters::Promises ext4 = adapters::load_adapter("ext4-nojournal")->promises;
  const adapters::Promises ext2 = adapters::load_adapter("ext2")->promises;
  const Case fresh{{"mkdir d", "create d/a", "write d/a 0 512 1 1", "fsync d/a"}, 3};
  EXPECT_EQ(fresh.judge({}, ext2), kNothing);
  EXPECT_EQ(fresh.judge({}, ext4), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  const Case renamed{{"create a", "write a 0 512 1 1", "sync", "rename a b", "fsync b"}, 4};
  EXPECT_EQ(renamed.judge({file("a", 1, 1, 1, 1)}, ext4), kNothing);
  EXPECT_NE(renamed.judge({file("a", 1, 1, 1, 1)}, adapters::load_adapter("ext4")->promises),
            kNothing);
}

TEST(Promises, F2fsFsyncPersistsNamesOnlyInStrictMode) {
  const adapters::Promises posix = adapters::load_adapter("f2fs")->promises;
  const adapters::Promises strict = adapters::load_adapter("f2fs-strict")->promises;
  const Case made{{"create a", "write a 0 512 1 1", "fsync a", "fsyncdir ."}, 2};
  EXPECT_EQ(made.judge({}, posix), kNothing);
  EXPECT_EQ(made.judge({}, strict), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  Case directory_too = made;
  directory_too.persisted = 3;
  EXPECT_EQ(directory_too.judge({}, posix), (Found{{Verdict::lost_synced_data, Tier::posix}}));
  const Case taken{// generic/342
                   {"create a", "write a 0 512 1 1", "sync", "rename a b", "create a",
                    "write a 0 512 2 2", "fsync a"},
                   6};
  EXPECT_EQ(taken.judge({file("a", 1, 2, 2, 2)}, posix), kNothing);
  EXPECT_NE(taken.judge({file("a", 1, 2, 2, 2)}, strict), kNothing);
}

TEST(Promises, ARestPersistsOldChangesOnlyIfDocumented) {
  const adapters::Promises aged{.keeps_after_s = 8};
  const Case rested{{"create a", "write a 0 512 1 1", "rest 8", "create b"}, 2};
  const Case shorter{{"create a", "write a 0 512 1 1", "rest 7", "create b"}, 2};
  const Tree whole{file("a", 1, 1, 1, 1)}, none, empty{file("a", 0, 0, 0, 1)};
  EXPECT_EQ(rested.judge(whole, aged), kNothing);
  EXPECT_EQ(rested.judge(none, aged), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_NE(rested.judge(empty, aged), kNothing) << "data and names are kept equally";
  for (const Tree& tree : {none, empty}) {
    EXPECT_EQ(rested.judge(tree, kPlain), kNothing) << "nothing was promised";
    EXPECT_EQ(shorter.judge(tree, aged), kNothing) << "the rest is too short";
  }
  // A `rest` operation promises nothing about a concurrent change by another user, because that
  // change may be too recent. The operation promises to keep only the changes before the join.
  const Case two{{"create a", "join", "@1 create b", "rest 8"}, 3};
  EXPECT_EQ(two.judge({file("a", 0, 0, 0, 1)}, aged), kNothing);
  EXPECT_EQ(two.judge(none, aged), (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(Promises, ObjectsOfMkfsAreNotJudged) {
  const Case nothing{{"create a", "sync"}, 1};
  const Tree tree{file(".nilfs", 0, 0, 0, 11), file("a", 0, 0, 0, 12)};
  EXPECT_EQ(nothing.judge(tree, adapters::load_adapter("nilfs2")->promises), kNothing);
  EXPECT_EQ(nothing.judge(tree, adapters::load_adapter("ext4")->promises),
            (Found{{Verdict::wrong_data, Tier::integrity}}));
}

TEST(Promises, NoFileSystemMayLosePosixPromises) {
  const Case made{
      {"create a", "write a 0 512 1 1", "fsync a", "fsyncdir .", "unlink a", "fsyncdir ."}, 3};
  Case removed = made;
  removed.persisted = 5;
  for (const std::string& name : adapters::built_in_adapters()) {
    const adapters::Promises promises = adapters::load_adapter(name)->promises;
    EXPECT_EQ(made.judge({file("a", 1, 1, 1, 1)}, promises), kNothing) << name;
    if (!promises.fsync_persists) {
      EXPECT_EQ(name, "lfs-checkpoint-only") << "only this file system may ignore fsync";
      continue;
    }
    Case still = made;
    still.lines.resize(4);
    EXPECT_NE(still.judge({}, promises), kNothing) << name;
    EXPECT_NE(still.judge({file("a", 0, 1, 1, 1)}, promises), kNothing) << name;
    EXPECT_NE(removed.judge({file("a", 1, 1, 1, 1)}, promises), kNothing)
        << name << ": known defects are still findings";
  }
}

TEST(Promises, FsyncKeepsAllLinksIfDocumented) {
  const Case links{
      {"create a", "write a 0 512 1 1", "sync", "link a b", "unlink a", "link b c", "fsync b"}, 6};
  const adapters::Promises all{.fsync_keeps_name = true, .fsync_keeps_links = true};
  const Tree right{file("b", 1, 1, 1, 1, 2), file("c", 1, 1, 1, 1, 2)};
  const Tree no_c{file("b", 1, 1, 1, 1)};
  const Tree with_a{file("a", 1, 1, 1, 1, 3), file("b", 1, 1, 1, 1, 3), file("c", 1, 1, 1, 1, 3)};
  EXPECT_EQ(links.judge(right, all), kNothing);
  EXPECT_EQ(links.judge(no_c, kNames), kNothing);
  EXPECT_EQ(links.judge(no_c, all), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(links.judge(with_a, kNames), kNothing);
  EXPECT_EQ(links.judge(with_a, all), (Found{{Verdict::resurrected, Tier::documented}}));
}

TEST(Promises, FsyncOfAnExchangedFileKeepsItsNameOnlyIfPromised) {
  const Case exchanged{{"create a", "write a 0 512 1 1", "create b", "write b 0 512 2 2", "sync",
                        "rename-exchange a b", "fsync a"},
                       6};
  const adapters::Promises xfs = adapters::load_adapter("xfs")->promises;
  const adapters::Promises ext4 = adapters::load_adapter("ext4")->promises;
  const Tree after{file("a", 1, 2, 2, 2), file("b", 1, 1, 1, 1)};
  const Tree before{file("a", 1, 1, 1, 1), file("b", 1, 2, 2, 2)};
  EXPECT_EQ(exchanged.judge(after, xfs), kNothing);
  EXPECT_EQ(exchanged.judge(before, xfs), kNothing);
  EXPECT_NE(exchanged.judge(before, ext4), kNothing);
  const Case moved{
      {"mkdir d", "mkdir e", "create d/a", "sync", "rename-exchange d e", "fsyncdir e"}, 5};
  const Tree old{directory("d", 8), directory("e", 9), file("d/a", 0, 0, 0, 1)};
  EXPECT_EQ(moved.judge(old, xfs), kNothing);
  EXPECT_NE(moved.judge(old, ext4), kNothing);
  Case at_last = exchanged;
  at_last.lines.emplace_back("fsyncdir .");
  at_last.persisted = 7;
  EXPECT_NE(at_last.judge(before, xfs), kNothing) << "fsync of the directory keeps the name";
}

TEST(Promises, FsyncKeepsAParentRenameOnlyIfJournaledBeforeTheFile) {
  const adapters::Promises ext4 = adapters::load_adapter("ext4")->promises;
  const adapters::Promises btrfs = adapters::load_adapter("btrfs")->promises;
  const Case later{{"mkdir d", "create d/a", "sync", "rename d e", "fsync e/a"}, 4};
  const Tree back{directory("d", 2), file("d/a", 0, 0, 0, 3)};
  EXPECT_EQ(later.judge(back, ext4), kNothing) << "the file has no pending changes";
  EXPECT_EQ(later.judge(back, btrfs), kNothing);
  const Case before{{"mkdir d", "sync", "rename d e", "create e/a", "fsync e/a"}, 4};
  EXPECT_NE(before.judge(back, ext4), kNothing);
  EXPECT_EQ(before.judge(back, btrfs), kNothing);
  EXPECT_NE(before.judge({directory("d", 2)}, btrfs), kNothing) << "the file's own name is lost";
  const Case within{
      {"mkdir d", "mkdir d/e", "sync", "rename d c", "create c/e/a", "rename c b", "fsync b/e/a"},
      6};
  EXPECT_EQ(within.judge({directory("c", 2), directory("c/e", 3), file("c/e/a", 0, 0, 0, 4)}, ext4),
            kNothing);
  Case itself = later;
  itself.lines.back() = "fsyncdir e";
  EXPECT_NE(itself.judge(back, btrfs), kNothing);
  Case kept = later;
  kept.lines.insert(kept.lines.begin() + 4, "fsyncdir .");
  kept.persisted = 5;
  EXPECT_NE(kept.judge(back, btrfs), kNothing);
}

TEST(Promises, ATemporaryNameMayRemainOnlyIfNamesAreNotAtomic) {
  const adapters::Promises soft = adapters::load_adapter("ufs-soft-updates")->promises;
  const adapters::Promises journal = adapters::load_adapter("ufs-journal")->promises;
  const Case exchanged{{"create foo", "mkdir A", "create A/foo", "rename-exchange foo A/foo"},
                       std::nullopt};
  const Tree third{file("foo", 0, 0, 0, 2), file(".exchanged-4-0", 0, 0, 0, 4)};
  EXPECT_EQ(exchanged.judge(third, soft), kNothing);
  EXPECT_NE(exchanged.judge(third, journal), kNothing);
  EXPECT_NE(exchanged.judge(third, kPlain), kNothing);
  const Case synced{{"create foo", "create bar", "fsync bar", "create log", "fsync log"}, 4};
  EXPECT_NE(synced.judge({file(".exchanged-4-0", 0, 0, 0, 4), file("log", 0, 0, 0, 5)}, soft),
            kNothing)
      << "the synced file has no distinguishable name";
}

TEST(Promises, DirectoryFsyncKeepsARenamedSymlink) {  // generic/779
  const Case renamed{{"symlink x a", "sync", "rename a b", "fsyncdir ."}, 3};
  EXPECT_EQ(renamed.judge({symlink("b", "x")}, kPlain), kNothing);
  const Found reverted = renamed.judge({symlink("a", "x")}, kPlain);
  EXPECT_EQ(reverted.size(), 2u) << "the old name has returned and the new one is lost";
}

TEST(Promises, ARenamedDirectoryTakesItsFilesAlong) {
  const Case moved{{"mkdir d", "create d/a", "write d/a 0 512 1 1", "sync", "rename d e", "mkdir d",
                    "fsyncdir ."},
                   5};
  const Tree after{directory("d", 5), directory("e", 2), file("e/a", 1, 1, 1, 1)};
  const Tree before{directory("d", 2), file("d/a", 1, 1, 1, 1)};
  EXPECT_EQ(moved.judge(after, kPlain), kNothing);
  Case in_flight = moved;
  in_flight.persisted = 3;
  EXPECT_EQ(in_flight.judge(before, kPlain), kNothing);
  EXPECT_EQ(in_flight.judge(after, kPlain), kNothing);
  EXPECT_NE(in_flight.judge({directory("d", 2)}, kPlain), kNothing);
  EXPECT_NE(in_flight.judge({directory("e", 2)}, kPlain), kNothing);
}

TEST(Promises, FdatasyncKeepsDataAndSizeOnly) {
  const Case attributes{
      {"create a", "sync", "setxattr a user.x v", "write a 0 512 1 1", "fdatasync a", "fsync a"},
      4};
  EXPECT_EQ(attributes.judge({file("a", 1, 1, 1, 1)}, kPlain), kNothing);
  EXPECT_EQ(attributes.judge({file("a", 0, 1, 1, 1)}, kPlain),
            (Found{{Verdict::zero_length, Tier::posix}}));
  Case synced = attributes;
  synced.persisted = 5;
  EXPECT_EQ(synced.judge({file("a", 1, 1, 1, 1)}, kPlain),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
}

TEST(Promises, ASynchronousWriteKeepsItsRange) {
  const Case sync{
      {"create a", "sync", "write a 0 1024 1 1", "write-dsync a 1024 512 1 2", "fsync a"}, 3};
  ObservedObject second = file("a", 3, 1, 2, 1);
  second.runs = {{ContentRun::Kind::zero, 0, 2}, {ContentRun::Kind::stamp, 2, 1, 1, 2}};
  EXPECT_EQ(sync.judge({second}, kPlain), kNothing) << "the earlier write was not synced";
  EXPECT_EQ(sync.judge({file("a", 2, 1, 1, 1)}, kPlain),
            (Found{{Verdict::lost_synced_data, Tier::posix}}));
}

TEST(Promises, APunchedHoleStaysPunched) {
  const Case punched{{"create a", "write a 0 1024 1 1", "punch a 0 512", "fsync a"}, 3};
  EXPECT_EQ(punched.judge({file("a", 2, 1, 1, 1)}, kPlain),
            (Found{{Verdict::stale_data, Tier::posix}}));
}

TEST(Promises, IgnoresEffectsOfSkippedAndPartialOperations) {
  const Case list{{"create a", "setxattr a user.x v", "write a 0 512 1 1", "fsync a"},
                  3,
                  {{1, workload::Outcome::skipped}, {2, workload::Outcome::partial}}};
  EXPECT_EQ(list.judge({file("a", 0, 0, 0, 1)}, kNames), kNothing);
  EXPECT_EQ(list.judge({file("a", 1, 1, 1, 1)}, kNames), kNothing);
  EXPECT_NE(list.judge({}, kNames), kNothing);
}

TEST(Promises, OperationsAfterASkippedOneMayFindAnotherFile) {
  const Case list{
      {"create a", "create b", "write a 0 512 1 1", "write b 0 512 2 2", "rename-exchange a b",
       "write b 0 512 1 3", "allocate a 512 512", "append a 1024 512 2 4", "sync"},
      8,
      {{4, workload::Outcome::skipped}, {6, workload::Outcome::skipped}}};
  ObservedObject a = file("a", 1, 1, 1, 1);
  a.size_bytes = 1024;
  a.runs.push_back({ContentRun::Kind::moved, 1, 1, 2, 4, 2});
  EXPECT_EQ(list.judge({a, file("b", 1, 1, 3, 2)}, kPlain), kNothing);
  EXPECT_EQ(list.judge({a}, kPlain), (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(Promises, AnUnreportedSyncKeepsNothing) {
  const Case synced{{"create a", "write a 0 512 1 1", "sync", "syncfs"}, 3};
  adapters::Promises deaf = kNames;
  deaf.sync_waits = false;
  EXPECT_EQ(synced.judge({}, kNames), (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(synced.judge({}, deaf), kNothing);
  const Case by_fsync{{"create a", "write a 0 512 1 1", "fsync a", "sync"}, 3};
  EXPECT_NE(by_fsync.judge({}, deaf), kNothing) << "fsync does";
}

TEST(Promises, OperationsThatWouldHaveFailedHaveNoEffect) {
  // The removexattr would have failed: the setxattr failed, so the attribute did not exist. The
  // power was cut before the result of the removexattr was reported.
  const Case refused{
      {"create a", "fsync a", "fsyncdir .", "setxattr a user.x v", "removexattr a user.x"},
      2,
      {{3, workload::Outcome::skipped}}};
  EXPECT_EQ(refused.judge({file("a", 0, 0, 0, 1)}, kPlain), kNothing);
}

TEST(Promises, FsyncKeepsNothingIfTheFileSystemIgnoresIt) {
  adapters::Promises checkpoints = kNames;
  checkpoints.fsync_persists = false;
  for (const char* point : {"fsync a", "fdatasync a", "fsyncdir ."}) {
    const Case by_fsync{{"create a", "write a 0 512 1 1", point}, 2};
    EXPECT_EQ(by_fsync.judge({}, checkpoints), kNothing) << point;
    const bool keeps = std::string_view(point) != "fdatasync a";
    EXPECT_EQ(by_fsync.judge({}, kNames) != kNothing, keeps) << point;
  }
  const Case written{{"create a", "fsync a", "write-sync a 0 512 1 1"}, 2};
  EXPECT_EQ(written.judge({file("a", 0, 0, 0, 1)}, checkpoints), kNothing);
  EXPECT_NE(written.judge({file("a", 0, 0, 0, 1)}, kNames), kNothing);
  const Case by_sync{{"create a", "write a 0 512 1 1", "fsync a", "sync"}, 3};
  EXPECT_EQ(by_sync.judge({}, checkpoints), (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(Promises, AWriteWithOSyncKeepsTheNamesThatFsyncKeeps) {
  const Case synced{{"create a", "write-sync a 0 512 1 1"}, 1};
  EXPECT_NE(synced.judge({}, kNames), kNothing);
  EXPECT_EQ(synced.judge({}, kPlain), kNothing);
  const Case data{{"create a", "write-dsync a 0 512 1 1"}, 1};
  EXPECT_EQ(data.judge({}, kNames), kNothing) << "O_DSYNC keeps no names";
}

TEST(Promises, TheOracleAcceptsEveryShortWorkload) {
  for (int length = 1; length <= workload::Ace::kLongest; ++length) {
    const workload::Ace ace(length);
    for (const std::uint64_t number : workload::sample_numbers(ace.count(), 300, 3)) {
      const Result<Oracle> oracle = Oracle::follow(ace.workload(number), {.promises = kNames});
      EXPECT_TRUE(oracle) << length << "/" << number << ": " << oracle.error().message();
    }
  }
}

}  // namespace
}  // namespace headcrash::oracle
