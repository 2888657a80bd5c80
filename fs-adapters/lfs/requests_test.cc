// Tests which requests the log issues: read-ahead, batched reads of inodes, the background writer,
// checkpoints only after changes, and reads during recovery.
#include "fs-adapters/lfs/testing/mounted.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

os::DiskQueueCounters counted(Machine& m, const std::function<void(Vfs&)>& body) {
  m.machine.system.queue.clear_counters();
  m.as_user([&] { body(*m.file_system); });
  return m.machine.system.queue.counters();
}

TEST(LfsRequests, SequentialReadsCauseReadAhead) {
  Disk disk;
  Machine m(*disk.store);
  m.mount();
  std::vector<std::byte> block(1024);
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "f", std::string(8 * 1024, 'x'));
    EXPECT_TRUE(fs.drop_caches());
    EXPECT_TRUE(fs.stat("f"));
  });
  const auto reads = counted(m, [&](Vfs& fs) {
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_EQ(fs.pread(*file, 0, block).value_or(0), block.size());
    EXPECT_TRUE(fs.close(*file));
  });
  EXPECT_EQ(reads.issued_reads, 2U) << "the block and the next one";
  const auto elsewhere = counted(m, [&](Vfs& fs) {
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_EQ(fs.pread(*file, 5 * 1024, block).value_or(0), block.size());
    EXPECT_TRUE(fs.close(*file));
  });
  EXPECT_EQ(elsewhere.issued_reads, 1U) << "random reads are not read ahead";
}

TEST(LfsRequests, AFullyOverwrittenBlockIsNotRead) {
  Disk disk;
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    bench::put_file(*m.file_system, "f", std::string(4 * 1024, 'x'));
    EXPECT_TRUE(m.file_system->drop_caches());
    EXPECT_TRUE(m.file_system->stat("f"));
  });
  const auto overwritten = counted(m, [&](Vfs& fs) {
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 1024, bench::bytes_of(std::string(1024, 'y'))));
    EXPECT_TRUE(fs.close(*file));
  });
  EXPECT_EQ(overwritten.issued_reads, 0U);
  const auto partly = counted(m, [&](Vfs& fs) {
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 3 * 1024, bench::bytes_of("z")));
    EXPECT_TRUE(fs.close(*file));
  });
  EXPECT_EQ(partly.issued_reads, 1U);
  m.as_user([&] {
    std::string expected(4 * 1024, 'x');
    expected.replace(1024, 1024, 1024, 'y');
    expected[3 * 1024] = 'z';
    EXPECT_EQ(bench::get_file(*m.file_system, "f"), expected);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsRequests, OneReadLoadsAllInodesOfABlock) {
  Disk disk({.mkfs = {.block_bytes = 4096, .segment_bytes = 64 << 10, .id = 7}});
  Machine m(*disk.store);
  m.mount();
  constexpr int kFiles = 32;  // a block has room for this number of inodes
  m.as_user([&] {
    for (int i = 0; i < kFiles; ++i) bench::put_file(*m.file_system, "f" + std::to_string(i), "x");
    EXPECT_TRUE(m.file_system->drop_caches());
    EXPECT_TRUE(m.file_system->list(""));
  });
  const auto reads = counted(m, [&](Vfs& fs) {
    for (int i = 0; i < kFiles; ++i) EXPECT_TRUE(fs.stat("f" + std::to_string(i)));
  });
  EXPECT_LE(reads.issued_reads, 3U);
}

TEST(LfsRequests, UsersDoNotWaitWhileTheWriterKeepsUp) {
  Disk disk;
  Machine m(*disk.store);
  m.mount();
  const auto written = counted(m, [&](Vfs& fs) {
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    // Appends 3 MB in small steps. The cache has only 2 MB, so the background writer must keep up.
    for (int i = 0; i < 300; ++i) {
      EXPECT_TRUE(fs.append(*file, bench::bytes_of(std::string(10 * 1024, 'x'))));
      m.executor().sleep_until(m.executor().now() + 10 * model::kMillisecondNs);
    }
    EXPECT_TRUE(fs.close(*file));
  });
  EXPECT_GT(written.issued_writes, 3U);
  // The test takes 3 s. The user waits only when a block that it needs is in flight. Without the
  // background writer, the user would wait four times as long.
  EXPECT_LT(m.account.disk_wait_ns, 20 * model::kMillisecondNs) << "waiting time of the user";
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsRequests, WritesCheckpointsOnlyAfterChanges) {
  Disk disk;
  Machine m(*disk.store);
  m.mount({.checkpoint_interval_ns = 20 * model::kSecondNs});
  m.settle(100);
  const std::uint64_t before = m.file_system->log().counters().checkpoints;
  m.settle(600);
  EXPECT_EQ(m.file_system->log().counters().checkpoints, before);
  m.as_user([&] { bench::put_file(*m.file_system, "f", "x"); });
  m.settle(15);
  EXPECT_EQ(m.file_system->log().counters().checkpoints, before)
      << "an interval begins with the change";
  m.settle(10);
  EXPECT_EQ(m.file_system->log().counters().checkpoints, before + 1);
  EXPECT_TRUE(m.file_system->log().has_no_pending_changes());
  m.settle(600);
  EXPECT_EQ(m.file_system->log().counters().checkpoints, before + 1);
}

/// Creates files of 8 KB after a checkpoint, and cuts the power before the directory's blocks are
/// written. Returns counters of the requests that the next mount issues.
os::DiskQueueCounters recovered(bool checksums, int files) {
  Disk disk(
      {.mkfs = {.block_bytes = 4096, .segment_bytes = 128 << 10, .checksums = checksums, .id = 7}});
  {
    Machine m(*disk.store);
    m.mount({.checkpoint_interval_ns = 0, .directories_wait = true});
    m.as_user([&] {
      EXPECT_TRUE(m.file_system->mkdir("d", 0755));
      EXPECT_TRUE(m.file_system->sync());
      for (int i = 0; i < files; ++i)
        bench::put_file(*m.file_system, "d/f" + std::to_string(i), std::string(8 * 1024, 'x'));
    });
    m.settle(40);
    EXPECT_EQ(m.file_system->log().counters().checkpoints, 2U) << "by the mount and the sync";
  }
  Machine m(*disk.store);
  m.mount();
  const os::DiskQueueCounters counters = m.machine.system.queue.counters();
  m.as_user([&] {
    for (int i = 0; i < files; ++i)
      EXPECT_EQ(bench::get_file(*m.file_system, "d/f" + std::to_string(i)).size(), 8U * 1024);
  });
  EXPECT_GE(m.file_system->log().counters().records_applied, static_cast<std::uint64_t>(files));
  m.unmount();
  bench::expect_clean(*disk.store);
  return counters;
}

TEST(LfsRequests, RecoveryDoesNotReadDataWithoutChecksums) {
  constexpr int kFiles = 200;
  constexpr std::uint64_t kDataSectors = kFiles * 16;
  EXPECT_GT(recovered(true, kFiles).sectors, kDataSectors);
  EXPECT_LT(recovered(false, kFiles).sectors, kDataSectors / 2);
}

/// Creates files that have index blocks, and then truncates the first `cut_off` of these files. The
/// truncations are recorded only in the log. Returns the number of reads that the mount after the
/// power cut issues.
std::uint64_t reads_of_recovery(bool reads_index, int files, int cut_off) {
  Disk disk(
      {.mkfs = {.block_bytes = 1024, .segment_bytes = 128 << 10, .checksums = false, .id = 7}});
  const auto name = [](int i) { return "f" + std::to_string(i); };
  {
    Machine m(*disk.store);
    m.mount({.checkpoint_interval_ns = 0});
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (int i = 0; i < files; ++i) bench::put_file(fs, name(i), std::string(30 * 1024, 'x'));
    });
    m.settle(40);
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (int i = 0; i < cut_off; ++i) {
        const auto file = fs.open(name(i), {});
        ASSERT_TRUE(file);
        EXPECT_TRUE(fs.truncate(*file, 20 * 1024 + 5));
        EXPECT_TRUE(fs.fsync(*file));
        EXPECT_TRUE(fs.close(*file));
      }
    });
    EXPECT_EQ(m.file_system->log().counters().checkpoints, 1U) << "by the mount";
  }
  Machine m(*disk.store);
  m.mount({.recovery_reads_index = reads_index});
  const std::uint64_t reads = m.machine.system.queue.counters().issued_reads;
  bench::expect_clean(*disk.store);
  m.as_user([&] {
    for (int i = 0; i < files; ++i)
      EXPECT_EQ(bench::get_file(*m.file_system, name(i)).size(),
                i < cut_off ? 20U * 1024 + 5 : 30U * 1024);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
  return reads;
}

TEST(LfsRequests, RecoveryFindsBlocksOfNewFilesInSummaries) {
  constexpr int kFiles = 60;
  const std::uint64_t few = reads_of_recovery(false, kFiles, 0);
  EXPECT_GE(reads_of_recovery(true, kFiles, 0), few + kFiles / 2)
      << "one index block per file, unless adjacent to the inodes";
  EXPECT_GE(reads_of_recovery(false, kFiles, 10), few + 10) << "summaries do not record truncation";
}

/// The first pass must leave the inodes in the cache for the second pass. Otherwise, each inode
/// would cost another revolution of the disk.
TEST(LfsRequests, TheSecondRecoveryPassRereadsNoInode) {
  constexpr int kFiles = 400;
  EXPECT_LT(recovered(false, kFiles).issued_reads, recovered(false, 2).issued_reads + kFiles / 5);
}

TEST(LfsRequests, CountsCleanSegmentsByReason) {
  Disk disk;
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int round = 0; round < 6; ++round) {
      for (int i = 0; i < 20; ++i)
        bench::put_file(fs, "f" + std::to_string(i), std::string(20 * 1024, 'x'));
      EXPECT_TRUE(fs.sync());
    }
  });
  const Counters& c = m.file_system->log().counters();
  EXPECT_GT(c.segments_emptied, 10U) << "whole files are rewritten";
  std::uint64_t total = 0;
  for (const std::uint64_t each : c.sectors_of) total += each;
  EXPECT_LT(total, c.sectors_written) << "the rest is summaries";
  EXPECT_GT(total, c.sectors_written * 9 / 10);
  EXPECT_GT(c.sectors_of[static_cast<std::size_t>(Content::data)], total / 2);
}

}  // namespace
}  // namespace headcrash::lfs
