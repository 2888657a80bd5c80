// Tests the usage table on the disk: a checkpoint writes only the changed blocks, and the cleaner
// moves blocks of the table.
#include "fs-adapters/lfs/testing/mounted.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

/// A disk whose usage table has 8 blocks, each for 31 segments.
const bench::DiskOptions kLongTable{
    .device_bytes = 4 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 16 << 10, .id = 3}};

std::uint64_t table_blocks_written(Machine& m) {
  return m.file_system->log().counters().sectors_of[static_cast<std::size_t>(Content::usage)];
}

TEST(LfsUsageTable, ACheckpointWritesOnlyChangedBlocks) {
  Disk disk(kLongTable);
  Machine m(*disk.store);
  m.mount({.background_cleaner = false});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    ASSERT_GE(m.file_system->log().superblock().usage_blocks(), 8U);
    bench::put_file(fs, "one", std::string(5'000, '1'));
    EXPECT_TRUE(fs.sync());
    const std::uint64_t before = table_blocks_written(m);
    bench::put_file(fs, "two", std::string(5'000, '2'));
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(table_blocks_written(m), before + 1) << "all changes are in the first segments";
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(table_blocks_written(m), before + 1) << "no changes";
  });
  bench::expect_clean(*disk.store);
  m.unmount();
}

/// Removes files from many parts of the disk. The checkpoint also moves blocks of the tables, so
/// further segments may become empty.
TEST(LfsUsageTable, MatchesLiveDataAfterEachCheckpoint) {
  Disk disk(kLongTable);
  Machine m(*disk.store);
  m.mount({.clean_start = 200, .clean_stop = 240});
  constexpr int kFiles = 400, kChanges = 600;
  std::uint64_t checkpoints = 0;
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const std::uint64_t before = m.file_system->log().counters().checkpoints;
    for (int i = 0; i < kFiles; ++i)
      bench::put_file(fs, std::to_string(i), std::string(4'000, 'f'));
    for (int i = 0; i < kChanges && !testing::Test::HasFailure(); ++i) {
      const std::string name = std::to_string(i * 7919 % kFiles);
      if (i % 3 == 0)
        (void)fs.unlink(name);
      else
        bench::put_file(fs, name, std::string(1'000 + i % 5 * 900, 'g'));
      if (i % 4 != 0) continue;
      EXPECT_TRUE(fs.sync());
      bench::expect_clean(*disk.store, "change " + std::to_string(i));
    }
    checkpoints = m.file_system->log().counters().checkpoints - before;
    EXPECT_GT(m.file_system->log().counters().segments_cleaned, 10U);
  });
  EXPECT_LT(table_blocks_written(m),
            checkpoints * m.file_system->log().superblock().usage_blocks());
  m.unmount();
  bench::expect_clean(*disk.store);
  m.mount();
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// Removes and creates one file at a time, so that most blocks of the table stay in place. A
/// segment may then contain nothing but the old copy of one table block, while the usage entry of
/// the segment is in another table block.
TEST(LfsUsageTable, ASegmentThatLosesItsLastTableBlockIsCleanAtOnce) {
  Disk disk(
      {.device_bytes = 16 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 32 << 10, .id = 3}});
  Machine m(*disk.store);
  m.mount();
  constexpr int kFiles = 300, kChanges = 700;
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < kFiles; ++i)
      bench::put_file(fs, std::to_string(i), std::string(20'000, 'f'));
    for (int i = 0; i < kChanges && !testing::Test::HasFailure(); ++i) {
      (void)fs.unlink(std::to_string(i * 7919 % kFiles));
      bench::put_file(fs, std::to_string(i * 7919 % kFiles), std::string(28'000, 'g'));
      EXPECT_TRUE(fs.sync());
      if (i % 5 == 0) bench::expect_clean(*disk.store, "change " + std::to_string(i));
    }
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// A disk whose usage table has 33 blocks, each for 31 segments. A segment has room for 15 blocks.
const bench::DiskOptions kTableOfSegments{
    .device_bytes = 8 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 8 << 10, .id = 3}};

/// Between two checkpoints, removes files from many parts of the disk, so that blocks in many parts
/// of the usage table change.
TEST(LfsUsageTable, ALongTableIsWrittenInSeveralRegions) {
  Disk disk(kTableOfSegments);
  bench::expect_clean(*disk.store, "mkfs");
  Machine m(*disk.store);
  m.mount({.background_cleaner = false});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    Store& log = m.file_system->log();
    ASSERT_TRUE(log.superblock().long_usage_table());
    constexpr int kFiles = 500;
    for (int round = 0; round < 4 && !testing::Test::HasFailure(); ++round) {
      const std::string where = "round " + std::to_string(round);
      for (int i = 0; i < kFiles; ++i)
        if (!fs.stat(std::to_string(i)))
          bench::put_file(fs, std::to_string(i),
                          std::string(8'000, static_cast<char>('a' + round)));
      EXPECT_TRUE(fs.sync());
      bench::expect_clean(*disk.store, where + ", written");
      for (int i = round; i < kFiles; i += 2) EXPECT_TRUE(fs.unlink(std::to_string(i)));
      const std::uint64_t blocks = table_blocks_written(m);
      EXPECT_TRUE(fs.sync());
      EXPECT_GT(table_blocks_written(m), blocks + 15) << "more than fit a segment";
      EXPECT_LE(table_blocks_written(m), blocks + log.superblock().usage_blocks()) << "each once";
      bench::expect_clean(*disk.store, where + ", removed");
    }
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// If the log mistook the segments that contain the table's blocks for clean segments, it would
/// continue in them.
TEST(LfsUsageTable, TheLogDoesNotOverwriteALongTable) {
  Disk disk(kTableOfSegments);
  Machine m(*disk.store);
  for (int round = 0; round < 12 && !testing::Test::HasFailure(); ++round) {
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      for (int i = 0; i < 300; ++i)
        bench::put_file(fs, std::to_string(i), std::string(7'000, static_cast<char>('a' + round)));
      for (int i = round % 3; i < 300; i += 3) EXPECT_TRUE(fs.unlink(std::to_string(i)));
      EXPECT_TRUE(fs.sync());
      for (int i = 0; i < 300; ++i) {
        if (i % 3 == round % 3) continue;
        EXPECT_TRUE(bench::get_file(fs, std::to_string(i)) ==
                    std::string(7'000, static_cast<char>('a' + round)))
            << i;
      }
    });
    m.unmount();
    bench::expect_clean(*disk.store, "round " + std::to_string(round));
  }
}

/// With segments of Sprite's size, a disk of 10 GB has 81 table blocks.
TEST(LfsUsageTable, LargeDisksHaveLongTables) {
  for (const std::uint64_t gb : {10, 44}) {
    const std::string where = std::to_string(gb) + " GB";
    Disk disk({.device_bytes = gb << 30, .mkfs = {.bytes_per_inode = 4 << 20, .id = 3}});
    bench::expect_clean(*disk.store, where);
    {
      Machine m(*disk.store, 8 << 20);
      m.mount();
      m.as_user([&] {
        ASSERT_TRUE(m.file_system->log().superblock().long_usage_table());
        for (int i = 0; i < 20; ++i)
          bench::put_file(*m.file_system, std::to_string(i), std::string(200'000, 'g'),
                          bench::Fsync::yes);
      });
    }
    Machine m(*disk.store, 8 << 20);
    m.mount();
    m.as_user([&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(bench::get_file(*m.file_system, std::to_string(i)).size(), 200'000U) << i;
    });
    m.unmount();
    bench::expect_clean(*disk.store, where);
  }
}

/// Older programs would misread a long table as a short one, so they must reject the file system.
TEST(LfsUsageTable, ALongTableChangesTheFormatVersion) {
  const Disk one(kTableOfSegments), other(kLongTable);
  for (const auto& [disk, version] : {std::pair{&one, 3U}, std::pair{&other, 2U}}) {
    std::vector<std::byte> sector(kSectorBytes);
    ASSERT_TRUE(disk->store->read(kSuperblockAddress, sector));
    EXPECT_EQ(std::to_integer<unsigned>(sector[4]), version);
  }
  std::vector<std::byte> sector(kSectorBytes);
  ASSERT_TRUE(one.store->read(kSuperblockAddress, sector));
  Superblock superblock = *decode_superblock(sector, one.store->sectors());
  superblock.reserve_segments = 4;
  const auto refused = decode_superblock(encode(superblock), one.store->sectors());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("reserve"), std::string::npos)
      << refused.error().message();
}

/// In the first segment, only table blocks that have not changed since mkfs are live.
TEST(LfsUsageTable, TheCleanerMovesTableBlocks) {
  Disk disk(kLongTable);
  Machine m(*disk.store);
  m.mount({.background_cleaner = false});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const Store& log = m.file_system->log();
    for (int i = 0; i < 4; ++i) bench::put_file(fs, std::to_string(i), std::string(20'000, 'f'));
    EXPECT_TRUE(fs.sync());
    ASSERT_GE(log.usage()[0].live_bytes, 7U * 512);
    for (int i = 0; i < 30 && log.usage()[0].state != SegmentState::clean; ++i)
      EXPECT_TRUE(m.file_system->log().clean());
    EXPECT_EQ(log.usage()[0].state, SegmentState::clean);
  });
  bench::expect_clean(*disk.store);
  m.unmount();
  bench::expect_clean(*disk.store);
}

}  // namespace
}  // namespace headcrash::lfs
