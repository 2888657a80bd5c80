// Tests modes, owners, modification times and allocated blocks. Persistent values must be found,
// values in flight are permitted, and values that were not observed are not judged.
#include <functional>
#include <nlohmann/json.hpp>

#include "harness/oracle/testing/judged_case.h"

namespace headcrash::oracle {
namespace {

const Found kFine;
const Found kLostByFsync{{Verdict::lost_synced_data, Tier::posix}};

/// Judges a file after a list of operations. The last operation must be a persistence point that
/// does not cover the judged file.
Found judge_file(Lines lines, std::size_t persisted, const ObservedObject& observed,
                 const adapters::Promises& promises = {.keeps_allocation = true}) {
  return Case{std::move(lines), persisted}.judge({observed}, promises);
}

ObservedObject with(const std::function<void(ObservedObject&)>& change) {
  ObservedObject object = file("a", 0, 0, 0, 3);
  change(object);
  return object;
}

TEST(InodeFacts, AcceptsASyncedModeOrALaterMode) {
  const Lines list{"create a", "fsyncdir .", "chmod a 640", "fsync a", "chmod a 600", "fsync a"};
  const auto mode = [](std::uint32_t bits) {
    return with([&](ObservedObject& o) { o.mode = bits; });
  };
  EXPECT_EQ(judge_file(list, 1, mode(0644)), kFine) << "no persistence point covers the inode";
  EXPECT_EQ(judge_file(list, 3, mode(0640)), kFine);
  EXPECT_EQ(judge_file(list, 3, mode(0600)), kFine);
  EXPECT_EQ(judge_file(list, 3, mode(0644)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 5, mode(0640)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 5, file("a", 0, 0, 0, 3)), kFine) << "not observed";
}

TEST(InodeFacts, AWriteWithOSyncKeepsAttributesAsFsyncDoes) {
  const auto judge_mode = [](const char* write, std::uint32_t bits) {
    ObservedObject object = file("a", 1, 1, 1, 3);
    object.mode = bits;
    return judge_file({"create a", "sync", "chmod a 640", write}, 3, object);
  };
  EXPECT_EQ(judge_mode("write-sync a 0 512 1 1", 0640), kFine);
  EXPECT_EQ(judge_mode("write-sync a 0 512 1 1", 0644), kLostByFsync);
  EXPECT_EQ(judge_mode("write-dsync a 0 512 1 1", 0644), kFine) << "O_DSYNC keeps only data";
}

TEST(InodeFacts, FsyncKeepsTheModeAndOwnerOfANewObject) {
  const auto seen = [](ObservedObject object, std::uint32_t mode, std::uint32_t user) {
    object.mode = mode, object.user = user, object.group = 0;
    return object;
  };
  const Lines file_list{"create a", "fdatasync a", "fsync a"};
  const auto empty = file("a", 0, 0, 0, 3);
  EXPECT_EQ(judge_file(file_list, 1, seen(empty, 0, 7)), kFine) << "fdatasync keeps neither";
  EXPECT_EQ(judge_file(file_list, 2, seen(empty, 0644, 0)), kFine);
  EXPECT_EQ(judge_file(file_list, 2, seen(empty, 0, 0)), kLostByFsync);
  EXPECT_EQ(judge_file(file_list, 2, seen(empty, 0644, 7)), kLostByFsync);
  EXPECT_EQ(judge_file(file_list, 2, seen(empty, 0755, 7), {.keeps_modes = false}), kFine)
      << "FAT stores neither";
  const Found lost_by_sync{{Verdict::lost_synced_data, Tier::documented}};
  const Lines others{"mkdir d", "mknod p fifo", "symlink t s", "sync"};
  const auto judge_all = [&](std::uint32_t of_d, std::uint32_t of_p, std::uint32_t owner_of_s) {
    ObservedObject pipe{.path = "p", .type = FileType::fifo, .inode = 5, .links = 1};
    return Case{others, 3}.judge({seen(directory("d", 4), of_d, 0), seen(pipe, of_p, 0),
                                  seen(symlink("s", "t"), 0777, owner_of_s)},
                                 {});
  };
  EXPECT_EQ(judge_all(0755, 0644, 0), kFine);
  EXPECT_EQ(judge_all(0644, 0644, 0), lost_by_sync);
  EXPECT_EQ(judge_all(0755, 0600, 0), lost_by_sync);
  EXPECT_EQ(judge_all(0755, 0644, 1), lost_by_sync);
}

TEST(InodeFacts, KeepsSyncedFlagsAndProject) {
  const Lines list{"create a", "fsyncdir .", "flags a Ad", "project a 7",
                   "fsync a",  "flags a -",  "fsync a"};
  const auto seen = [](std::uint32_t flags, std::uint32_t project) {
    return with([&](ObservedObject& o) { o.flags = flags, o.project = project; });
  };
  const std::uint32_t both = workload::parse_operation("flags a Ad", "test")->flags;
  const std::uint32_t one = workload::parse_operation("flags a d", "test")->flags;
  EXPECT_EQ(judge_file(list, 1, seen(one, 3)), kFine)
      << "before the first flags nothing is promised";
  EXPECT_EQ(judge_file(list, 4, seen(both, 7)), kFine);
  EXPECT_EQ(judge_file(list, 4, seen(0, 7)), kFine) << "the next operation may have been executed";
  EXPECT_EQ(judge_file(list, 4, seen(one, 7)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 4, seen(both, 0)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 6, seen(both, 7)), kLostByFsync) << "flags removed, then set again";
  EXPECT_EQ(judge_file(list, 6, file("a", 0, 0, 0, 3)), kFine) << "not observed";
  const auto entry = nlohmann::json::parse(R"({"path":"a","type":"file","flags":64,"project":7})");
  EXPECT_EQ(parse_entry(entry)->flags, 64U);
  EXPECT_EQ(parse_entry(entry)->project, 7U);
}

TEST(InodeFacts, FdatasyncNeedNotKeepTheModeButSyncMust) {
  const ObservedObject other = with([](ObservedObject& o) { o.mode = 0644; });
  EXPECT_EQ(judge_file({"create a", "sync", "chmod a 640", "fdatasync a"}, 3, other), kFine);
  EXPECT_EQ(judge_file({"create a", "sync", "chmod a 640", "sync"}, 3, other),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(InodeFacts, AnAttributeMayBeOmittedByTheAgent) {
  const Lines list{"create a", "fsyncdir .", "setxattr a user.x v", "setxattr a user.y v",
                   "fsync a"};
  const ObservedObject some = with([](ObservedObject& o) { o.attributes["user.y"] = "v"; });
  EXPECT_EQ(judge_file(list, 4, some), kLostByFsync);
  ObservedObject cut = some;
  cut.attributes_cut = true;
  EXPECT_EQ(judge_file(list, 4, cut), kFine);
  cut.attributes["user.y"] = "other";
  EXPECT_NE(judge_file(list, 4, cut), kFine) << "reported attributes are judged";
  const auto entry = nlohmann::json::parse(R"({"path":"a","type":"file","attributes-cut":true})");
  EXPECT_TRUE(parse_entry(entry)->attributes_cut);
}

TEST(InodeFacts, JudgesAttributesOfDirectories) {
  const Case changed{{"mkdir d", "sync", "chmod d 700", "chown d 7 8", "fsyncdir d"}, 4};
  ObservedObject d = directory("d", 2);
  d.mode = 0700, d.user = 7, d.group = 8;
  EXPECT_EQ(changed.judge({d}, {}), kFine);
  d.group = 0;
  EXPECT_EQ(changed.judge({d}, {}), kLostByFsync);
  d.group = 8, d.mode = 0755;
  EXPECT_EQ(changed.judge({d}, {}), kLostByFsync);
}

TEST(InodeFacts, UserAndGroupChangeTogether) {
  const Lines list{"create a", "sync", "chown a 7 8", "fsync a", "chown a 9 10", "sync"};
  const auto owner = [](std::uint32_t user, std::uint32_t group) {
    return with([&](ObservedObject& o) { o.user = user, o.group = group; });
  };
  EXPECT_EQ(judge_file(list, 3, owner(7, 8)), kFine);
  EXPECT_EQ(judge_file(list, 3, owner(9, 10)), kFine);
  EXPECT_NE(judge_file(list, 3, owner(7, 10)), kFine);
  EXPECT_EQ(judge_file(list, 3, owner(0, 0)), kLostByFsync);
}

TEST(InodeFacts, AModificationTimeIsKeptUntilAChange) {
  const auto at = [](std::int64_t seconds) {
    return with([&](ObservedObject& o) { o.modified_seconds = seconds; });
  };
  const Lines list{"create a",           "sync", "touch a 1000000000", "fsync a",
                   "touch a 1200000000", "sync"};
  EXPECT_EQ(judge_file(list, 3, at(1000000000)), kFine);
  EXPECT_EQ(judge_file(list, 3, at(1200000000)), kFine);
  EXPECT_EQ(judge_file(list, 3, at(1700000000)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 3, at(1700000000), {.keeps_times = false}), kFine);
  const Lines written{"create a", "sync", "touch a 1000000000", "fsync a", "truncate a 0", "sync"};
  EXPECT_EQ(judge_file(written, 3, at(1700000000)), kFine)
      << "the truncation may have been executed";
}

TEST(InodeFacts, ADirectorysTimeIsKeptUntilItsNamesChange) {
  const auto at = [](std::int64_t seconds) {
    ObservedObject object = directory("d", 2);
    object.modified_seconds = seconds;
    return Tree{object};
  };
  const adapters::Promises promises;
  const Case set{{"mkdir d", "sync", "touch d 1000000000", "fsyncdir d"}, 3};
  EXPECT_EQ(set.judge(at(1000000000), promises), kFine);
  EXPECT_EQ(set.judge(at(1700000000), promises), kLostByFsync);
  const Case filled{{"mkdir d", "touch d 1000000000", "create d/f", "unlink d/f", "sync"}, 4};
  EXPECT_EQ(filled.judge(at(1700000000), promises), kFine);
}

TEST(InodeFacts, AnAccessTimeIsKeptUntilAReadOrMapping) {
  const auto at = [](std::int64_t seconds) {
    return with([&](ObservedObject& o) { o.accessed_seconds = seconds, o.size_bytes = 0; });
  };
  const Lines list{"create a", "sync", "access a 1000000000", "fsync a", "access a 1200000000",
                   "sync"};
  EXPECT_EQ(judge_file(list, 3, at(1000000000)), kFine);
  EXPECT_EQ(judge_file(list, 3, at(1200000000)), kFine);
  EXPECT_EQ(judge_file(list, 3, at(1700000000)), kLostByFsync);
  EXPECT_EQ(judge_file(list, 5, at(1000000000)),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(judge_file(list, 3, at(1700000000), {.keeps_times = false}), kFine);
  EXPECT_EQ(judge_file({"create a", "sync", "access a 1000000000", "touch a 1200000000", "fsync a"},
                       4, at(1200000000)),
            kLostByFsync);
  const Lines mapped{"create a", "write a 0 512 1 1", "sync", "access a 1000000000",
                     "fsync a",  "store a 0 512 1 2"};
  ObservedObject read = file("a", 1, 1, 1, 3);
  read.accessed_seconds = 1700000000;
  EXPECT_EQ(judge_file(mapped, 4, read), kFine) << "the mapping may have been executed";
  EXPECT_EQ(judge_file(Lines(mapped.begin(), mapped.end() - 1), 4, read), kLostByFsync);
}

TEST(InodeFacts, APersistentInodeHasItsCreationTime) {
  const ObservedObject unborn = with([](ObservedObject& o) { o.born_seconds = 0; });
  const ObservedObject born = with([](ObservedObject& o) { o.born_seconds = 1700000000; });
  EXPECT_EQ(judge_file({"create a", "fsyncdir .", "fsync a"}, 2, born), kFine);
  EXPECT_EQ(judge_file({"create a", "fsyncdir .", "fsync a"}, 2, unborn), kLostByFsync);
  EXPECT_EQ(judge_file({"create a", "fsyncdir ."}, 1, unborn), kFine)
      << "the inode is not persistent";
  EXPECT_EQ(judge_file({"create a", "sync"}, 1, unborn),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(judge_file({"create a", "sync"}, 1, unborn, {.keeps_times = false}), kFine);
  const auto entry = nlohmann::json::parse(R"({"path":"a","type":"file","accessed":7,"born":-1})");
  EXPECT_EQ(parse_entry(entry)->accessed_seconds, 7);
  EXPECT_EQ(parse_entry(entry)->born_seconds, -1);
}

TEST(InodeFacts, SyncedAllocationsAreKept) {
  const auto room = [](std::uint64_t bytes) {
    return with([&](ObservedObject& o) { o.allocated_bytes = bytes; });
  };
  const Lines kept{"create a", "allocate-keep a 0 65536", "sync", "punch a 8192 8192", "sync"};
  EXPECT_EQ(judge_file(kept, 2, room(65536)), kFine);
  EXPECT_EQ(judge_file(kept, 2, room(57344)), kFine) << "the punch may have been executed";
  EXPECT_EQ(judge_file(kept, 2, room(49152)),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
  EXPECT_EQ(judge_file(kept, 2, room(0), {}), kFine) << "only an adapter's promise keeps it";
  const Lines by_fsync{"create a", "fsyncdir .", "allocate-keep a 0 65536", "fdatasync a"};
  EXPECT_EQ(judge_file(by_fsync, 3, room(4096)), kLostByFsync);
  const Lines cut_off{"create a", "allocate-keep a 0 65536", "sync", "truncate a 0", "sync"};
  EXPECT_EQ(judge_file(cut_off, 2, room(0)), kFine);
  const Lines zeroes{"create a", "zero-keep a 0 65536", "sync"};
  EXPECT_EQ(judge_file(zeroes, 2, room(0)), kFine) << "zeroes may be stored as a hole";
}

TEST(InodeFacts, CountsOverlappingAllocationsOnce) {
  Lines list{"create a"};
  for (int i = 0; i < 2000; ++i) list.push_back("allocate-keep a 0 1073741824");
  list.insert(list.end(), {"punch a 4096 4096", "allocate-keep a 4096 512", "sync"});
  const auto room = [](std::uint64_t bytes) {
    return with([&](ObservedObject& o) { o.allocated_bytes = bytes; });
  };
  const std::uint64_t kept = 1073741824 - 4096 + 512;
  EXPECT_EQ(judge_file(list, list.size() - 1, room(kept)), kFine);
  EXPECT_EQ(judge_file(list, list.size() - 1, room(kept - 512)),
            (Found{{Verdict::lost_synced_data, Tier::documented}}));
}

TEST(TreeDifference, IgnoresInodeNumbers) {
  const Tree tree{file("a", 1, 1, 1, 10, 2), file("b", 1, 1, 1, 10, 2), file("c", 1, 2, 1, 11)};
  Tree renumbered = tree;
  renumbered[0].inode = renumbered[1].inode = 90;
  renumbered[2].inode = 10;
  EXPECT_EQ(tree_difference(tree, renumbered), "");
  renumbered[1].inode = 91;
  EXPECT_EQ(tree_difference(tree, renumbered), "b has changed: inode")
      << "the names no longer share an inode";
  Tree grown = tree;
  grown[2].size_bytes = 7;
  EXPECT_EQ(tree_difference(tree, grown), "c has changed: size");
  grown.pop_back();
  EXPECT_EQ(tree_difference(tree, grown), "c is gone");
  EXPECT_EQ(tree_difference(grown, tree), "c is new");
}

TEST(TreeDifference, AllowsALaterAccessTime) {
  Tree tree{file("a", 1, 1, 1, 10)};
  tree[0].accessed_seconds = 100;
  Tree read = tree;
  read[0].accessed_seconds = 101;
  EXPECT_EQ(tree_difference(tree, read), "");
  EXPECT_EQ(tree_difference(read, tree), "a has changed: accessed");
}

TEST(InodeFacts, AnOlderAgentMayOmitFields) {
  const auto old =
      nlohmann::json::parse(R"({"path":"a","type":"file","size":0,"links":1,"inode":3})");
  const ObservedObject object = parse_entry(old).value();
  EXPECT_FALSE(object.mode || object.user || object.allocated_bytes || object.modified_seconds);
  const auto whole = nlohmann::json::parse(
      R"({"path":"a","type":"file","mode":416,"user":7,"group":8,"allocated":4096,"modified":-5})");
  const ObservedObject parsed = parse_entry(whole).value();
  EXPECT_EQ(parsed.mode, 0640U);
  EXPECT_EQ(parsed.group, 8U);
  EXPECT_EQ(parsed.allocated_bytes, 4096U);
  EXPECT_EQ(parsed.modified_seconds, -5);
}

}  // namespace
}  // namespace headcrash::oracle
