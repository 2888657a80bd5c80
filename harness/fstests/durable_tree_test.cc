// Tests mount periods and the comparison of trees (durable_tree.h).
#include "harness/fstests/durable_tree.h"

#include <gtest/gtest.h>

#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::fstests {
namespace {

using explorer::RecordedDisk;
using oracle::ContentRun;
using oracle::ObservedObject;

class MountPeriods : public testing::Test {
 protected:
  std::vector<MountPeriod> periods_of(RecordedDisk& disk) {
    const auto run = disk.load();
    return run ? mount_periods(*run) : std::vector<MountPeriod>();
  }
  TemporaryFolder folder_;
  RecordedDisk disk_{folder_.path() / "disk.hcrec", 4096, false};
  const RecordedDisk::Data block_ = RecordedDisk::block({1});
};

TEST_F(MountPeriods, LastFromTheMountToTheUnmount) {
  disk_.write(1, 0, block_).ack(1).flush(2).mark("fstests mounting 500");
  disk_.write(3, 8, block_).ack(3).mark("persisted 600").mark("fstests unmounted");
  disk_.write(4, 16, block_).ack(4).mark("fstests mounting 700").mark("phase end");
  const auto periods = periods_of(disk_);
  ASSERT_EQ(periods.size(), 2U);
  EXPECT_EQ(periods[0].from, 4U);
  EXPECT_EQ(periods[0].to, 8U);
  EXPECT_EQ(periods[0].durable_before_us, 500U);
  EXPECT_EQ(periods[1].from, 11U);
  EXPECT_EQ(periods[1].to, 13U) << "a period without an end ends with the recording";
  EXPECT_EQ(periods[1].durable_before_us, 0U) << "the disk had unflushed writes";
}

TEST_F(MountPeriods, IgnoreFailedAndNestedMounts) {
  disk_.mark("fstests mounting 1").mark("fstests not mounted").mark("fstests unmounted");
  disk_.mark("fstests mounting 2").mark("fstests mounting 3").mark("fstests not mounted");
  disk_.mark("fstests unmounted");
  const auto periods = periods_of(disk_);
  ASSERT_EQ(periods.size(), 1U);
  EXPECT_EQ(periods[0].from, 3U);
  EXPECT_EQ(periods[0].to, 6U);
  EXPECT_EQ(periods[0].durable_before_us, 2U);
}

TEST_F(MountPeriods, RecordQuotaMountOptions) {
  disk_.mark("fstests mounting 500 uquota,gquota").mark("fstests unmounted");
  disk_.mark("fstests mounting 600 ").mark("fstests drops writes").mark("fstests unmounted");
  const auto periods = periods_of(disk_);
  ASSERT_EQ(periods.size(), 2U);
  EXPECT_EQ(periods[0].durable_before_us, 500U);
  EXPECT_EQ(periods[0].mount_options, "uquota,gquota");
  EXPECT_FALSE(periods[0].drops_writes);
  EXPECT_EQ(periods[1].durable_before_us, 600U);
  EXPECT_EQ(periods[1].mount_options, "");
  EXPECT_TRUE(periods[1].drops_writes);
}

constexpr std::uint64_t kSynced = 5'000'500;

ObservedObject file(const std::string& path, std::int64_t changed_us, std::uint64_t inode,
                    std::uint32_t content = 1) {
  return {.path = path,
          .inode = inode,
          .links = 1,
          .size_bytes = 512,
          .runs = {ContentRun{.kind = ContentRun::Kind::stamp, .blocks = 1, .file = content}},
          .mode = 0644,
          .changed_us = changed_us};
}
ObservedObject folder(const std::string& path, std::int64_t changed_us, std::uint64_t inode) {
  return {.path = path,
          .type = FileType::directory,
          .inode = inode,
          .links = 2,
          .changed_us = changed_us};
}

std::vector<std::string> paths_of(const std::vector<oracle::Finding>& findings) {
  std::vector<std::string> paths;
  for (const oracle::Finding& each : findings) {
    EXPECT_EQ(each.kind, oracle::Verdict::lost_synced_data);
    paths.push_back(each.path);
  }
  return paths;
}
using Paths = std::vector<std::string>;

TEST(DurableTree, RequiresChangesMadeBeforeTheSync) {
  const DurableTree durable({file("new", 5'000'600, 1), file("old", 5'000'400, 2)}, "ext4");
  EXPECT_EQ(durable.durable_objects(kSynced), 1U);
  EXPECT_EQ(paths_of(durable.judge(kSynced, {})), Paths{"old"});
  EXPECT_EQ(paths_of(durable.judge(kSynced, {file("old", 5'000'400, 2)})), Paths());
  EXPECT_EQ(paths_of(durable.judge(0, {})), Paths()) << "nothing was synced";
}

TEST(DurableTree, ComparesContentAndAttributes) {
  const ObservedObject good = file("a", 5'000'400, 2);
  const DurableTree durable({good}, "ext4");
  std::vector<ObservedObject> bad(6, good);
  bad[0].runs[0].file = 2;
  bad[1].size_bytes = 0;
  bad[2].mode = 0600;
  bad[3].attributes["user.x"] = "1";
  bad[4].type = FileType::fifo;
  bad[5].error = 5;
  for (const ObservedObject& each : bad)
    EXPECT_EQ(paths_of(durable.judge(kSynced, {each})), Paths{"a"});
  ObservedObject same = good;
  same.accessed_seconds = 7;
  same.allocated_bytes = 4096;
  same.changed_us = 1;
  EXPECT_EQ(paths_of(durable.judge(kSynced, {same})), Paths());
}

TEST(DurableTree, AllowsForTimesInWholeSeconds) {
  const DurableTree durable({file("a", 5'000'000, 1), file("b", 4'000'000, 2)}, "ext4");
  EXPECT_EQ(paths_of(durable.judge(kSynced, {})), Paths{"b"})
      << "a may have been changed after 5.0005 s";
}

TEST(DurableTree, FindsAnObjectWhoseFolderHasBeenRenamed) {
  const DurableTree durable({folder("new", 5'000'600, 1), file("new/a", 5'000'400, 2)}, "ext4");
  EXPECT_EQ(paths_of(durable.judge(kSynced, {folder("old", 1, 1), file("old/a", 1, 2)})), Paths());
  EXPECT_EQ(paths_of(durable.judge(kSynced, {folder("old", 1, 1), file("old/a", 1, 3)})),
            Paths{"new/a"});
  EXPECT_EQ(paths_of(durable.judge(kSynced, {folder("new", 1, 3), file("new/a", 1, 4, 9),
                                             folder("old", 1, 1), file("old/a", 1, 2)})),
            Paths())
      << "another folder had this name";
  const DurableTree unchanged({folder("d", 5'000'400, 1), file("d/a", 5'000'400, 2)}, "ext4");
  EXPECT_EQ(paths_of(unchanged.judge(kSynced, {folder("d", 1, 1), file("other", 1, 2)})),
            Paths{"d/a"});
}

TEST(DurableTree, IgnoresChangesThatTheTestHasUndone) {
  const std::vector<ObservedObject> end{folder("d", 5'000'400, 1), file("d/a", 5'000'400, 2)};
  const DurableTree older(end, "ext4", DurableTree::End::older), complete(end, "ext4");
  const std::vector<ObservedObject> changed{folder("d", 5'000'400, 1),
                                            file("d/a", 5'000'600, 2, 9)};
  EXPECT_EQ(paths_of(older.judge(kSynced, changed)), Paths());
  EXPECT_EQ(paths_of(complete.judge(kSynced, changed)), Paths{"d/a"});
  const std::vector<ObservedObject> removed{folder("d", 5'000'600, 1)};
  EXPECT_EQ(paths_of(older.judge(kSynced, removed)), Paths());
  EXPECT_EQ(paths_of(complete.judge(kSynced, removed)), Paths{"d/a"});
  EXPECT_EQ(paths_of(older.judge(kSynced, {folder("d", 5'000'400, 1)})), Paths{"d/a"})
      << "its folder has not been changed, so it was not removed";
  std::vector<ObservedObject> other{folder("d", 5'000'400, 1), file("d/a", 1, 2, 9)};
  EXPECT_EQ(paths_of(older.judge(kSynced, other)), Paths()) << "contents are not compared";
  other[1].mode = 0600;
  EXPECT_EQ(paths_of(older.judge(kSynced, other)), Paths{"d/a"}) << "not changed after the sync";
}

TEST(DurableTree, IgnoresSnapshotsAndTheKernelsOwnFiles) {
  const std::uint64_t subvolume = 256 | 1ULL << 48U;
  const std::vector<ObservedObject> end{file("aquota.user", 1, 2), file("lost+found/#3", 1, 3),
                                        folder("snap", 1, subvolume),
                                        file("snap/a", 1, 257 | 1ULL << 48U)};
  EXPECT_EQ(paths_of(DurableTree(end, "btrfs").judge(kSynced, {})), Paths());
  EXPECT_EQ(paths_of(DurableTree(end, "xfs").judge(kSynced, {})), (Paths{"snap", "snap/a"}));
}

}  // namespace
}  // namespace headcrash::fstests
