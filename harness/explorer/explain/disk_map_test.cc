#include "harness/explorer/explain/disk_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/explorer/testing/recorded_disk.h"
#include "plugin/base/random.h"

namespace headcrash::explorer {
namespace {

using report::BlockClass;
using Disk = std::vector<std::byte>;

void put(Disk& disk, std::size_t at, std::uint64_t value, std::size_t width, bool big = false) {
  for (std::size_t i = 0; i < width; ++i)
    disk[at + (big ? width - 1 - i : i)] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}
DiskMap::Read reader_of(const Disk& disk) {
  return [&disk](std::uint64_t lba, std::span<std::byte> into) -> Result<void> {
    if (lba * 512 + into.size() > disk.size()) return fail("disk", "ends before");
    std::copy_n(disk.begin() + static_cast<std::ptrdiff_t>(lba * 512), into.size(), into.begin());
    return {};
  };
}

/// Returns an ext4 file system with two groups. Each has 64 blocks of 4 KiB and 32 inodes of 256
/// bytes. The journal is in blocks 40 to 47.
Disk an_ext4() {
  Disk disk(128 * 4096);
  const std::size_t super = 1024;
  put(disk, super + 4, 128, 4);
  put(disk, super + 24, 2, 4);
  put(disk, super + 32, 64, 4);
  put(disk, super + 40, 32, 4);
  put(disk, super + 56, 0xef53, 2);
  put(disk, super + 76, 1, 4);
  put(disk, super + 88, 256, 2);
  for (std::size_t group = 0; group < 2; ++group) {
    put(disk, 4096 + 32 * group + 0, 10 + group, 4);
    put(disk, 4096 + 32 * group + 4, 20 + group, 4);
    put(disk, 4096 + 32 * group + 8, 30 + 2 * group, 4);
  }
  const std::size_t journal = 30 * 4096 + 7 * 256;
  put(disk, journal + 0, 0x8180, 2);
  put(disk, journal + 32, 0x80000, 4);
  put(disk, journal + 40, 0xf30a, 2);
  put(disk, journal + 42, 1, 2);
  put(disk, journal + 52 + 4, 8, 2);
  put(disk, journal + 52 + 8, 40, 4);
  return disk;
}

TEST(DiskMap, IdentifiesExt4BlocksByPosition) {
  const Disk disk = an_ext4();
  const DiskMap map = DiskMap::read("", reader_of(disk));
  EXPECT_EQ(map.type(), "ext4");
  const Disk block(4096, std::byte{0x11});
  const auto at = [&](std::uint64_t number) {
    return map.at(number * 8, block).value_or(BlockKind{BlockClass::other, "unknown"});
  };
  EXPECT_EQ(at(1).what, "group descriptors");
  EXPECT_EQ(at(11).what, "block bitmap of group 1");
  EXPECT_EQ(at(20).what, "inode bitmap of group 0");
  EXPECT_EQ(at(30).what, "inode table of group 0, inodes 1 to 16");
  EXPECT_EQ(at(33).what, "inode table of group 1, inodes 49 to 64");
  EXPECT_EQ(at(33).block, BlockClass::inode);
  EXPECT_EQ(at(47).block, BlockClass::journal);
  EXPECT_EQ(at(48).what, "unknown");
}

TEST(DiskMap, IdentifiesADirectoryByItsRecords) {
  const Disk disk = an_ext4();
  const DiskMap map = DiskMap::read("ext4", reader_of(disk));
  Disk block(4096);
  put(block, 0, 12, 4);
  put(block, 4, 12, 2);
  put(block, 6, 1, 1);
  put(block, 8, '.', 1);
  put(block, 12, 2, 4);
  put(block, 16, 4084, 2);
  put(block, 18, 2, 1);
  EXPECT_EQ(kind_of_write({.map = &map}, 400, block).what, "directory, inode 12");
  EXPECT_EQ(kind_of_write({.map = &map}, 400, block).block, BlockClass::directory);
  put(block, 16, 4083, 2);
  EXPECT_EQ(kind_of_write({.map = &map}, 400, block).block, BlockClass::other);
}

TEST(DiskMap, ClassifiesStampsOutsideTheJournalAsData) {
  const Disk disk = an_ext4();
  const DiskMap map = DiskMap::read("ext4", reader_of(disk));
  const auto stamps = RecordedDisk::stamps(3, 12, 0, 4096);
  EXPECT_EQ(kind_of_write({.map = &map}, 800, stamps).block, BlockClass::data);
  EXPECT_EQ(kind_of_write({.map = &map}, 800, stamps).what, "file 3: version 12, blocks 0 to 7");
  EXPECT_EQ(kind_of_write({.map = &map}, 41 * 8, stamps).block, BlockClass::journal);
}

TEST(DiskMap, FindsTheXfsLog) {
  Disk disk(4096);
  put(disk, 0, 0x58465342, 4, true);
  put(disk, 4, 4096, 4, true);
  put(disk, 48, (2ULL << 12) + 5, 8, true);
  put(disk, 84, 4000, 4, true);
  put(disk, 96, 10, 4, true);
  put(disk, 124, 12, 1, true);
  const DiskMap map = DiskMap::read("", reader_of(disk));
  EXPECT_EQ(map.type(), "xfs");
  const Disk block(4096, std::byte{0x11});
  EXPECT_EQ(map.at(8005 * 8, block).value_or(BlockKind{}).block, BlockClass::journal);
  EXPECT_FALSE(map.at(8004 * 8, block));
  EXPECT_FALSE(map.at(8015 * 8, block));
}

/// Returns an F2FS file system with segments of 4 blocks. The checkpoint is at block 4, the SIT at
/// 8, the NAT at 12 and 16, and the SSA at 20. The main area consists of the blocks 24 to 63.
Disk an_f2fs() {
  Disk disk(4096);
  const auto number = [&](std::size_t at, std::uint64_t value) { put(disk, 1024 + at, value, 4); };
  number(0, 0xf2f52010);
  number(16, 12);
  number(20, 2);
  for (const auto& [at, value] : {std::pair{52, 1},
                                  {56, 1},
                                  {60, 2},
                                  {64, 1},
                                  {68, 10},
                                  {76, 4},
                                  {80, 8},
                                  {84, 12},
                                  {88, 20},
                                  {92, 24}})
    number(static_cast<std::size_t>(at), static_cast<std::uint64_t>(value));
  return disk;
}

TEST(DiskMap, IdentifiesF2fsAreasAndNodes) {
  const Disk disk = an_f2fs();
  const DiskMap map = DiskMap::read("", reader_of(disk));
  EXPECT_EQ(map.type(), "f2fs");
  Disk block(4096);
  const auto at = [&](std::uint64_t number) {
    return map.at(number * 8, block).value_or(BlockKind{BlockClass::other, "unknown"});
  };
  EXPECT_EQ(at(7).what, "checkpoint");
  EXPECT_EQ(at(8).what, "segment information (SIT)");
  EXPECT_EQ(at(19).what, "node addresses (NAT)");
  EXPECT_EQ(at(23).what, "segment summaries (SSA)");
  EXPECT_EQ(at(24).what, "unknown");
  const std::size_t footer = 4096 - 24;
  put(block, footer, 5, 4);
  put(block, footer + 4, 5, 4);
  put(block, footer + 8, 2, 4);
  put(block, footer + 12, 7, 8);
  put(block, footer + 20, 30, 4);
  EXPECT_EQ(at(24).what, "node 5, an inode, with the fsync mark");
  EXPECT_EQ(at(63).block, BlockClass::inode);
  EXPECT_EQ(at(64).what, "unknown") << "beyond the main area";
  put(block, footer, 6, 4);
  put(block, footer + 8, 0, 4);
  EXPECT_EQ(at(24).what, "node 6 of inode 5");
  put(block, footer, 4 * 455, 4);
  EXPECT_EQ(at(24).what, "unknown") << "an invalid node number";
  put(block, footer, 6, 4);
  put(block, footer + 20, 65, 4);
  EXPECT_EQ(at(24).what, "unknown") << "the address of the next node is invalid";
}

TEST(DiskMap, ToleratesHostileInput) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    Disk disk = an_ext4();
    for (int i = 0; i < 6; ++i)
      disk[1024 + random.below(8192)] = static_cast<std::byte>(random.below(256));
    put(disk, 1024 + 56, 0xef53, 2);
    Disk other = an_f2fs();
    for (int i = 0; i < 3; ++i)
      other[1024 + 12 + random.below(84)] = static_cast<std::byte>(random.below(256));
    const bool ext = round % 2 == 0;
    const DiskMap map = DiskMap::read(ext ? "ext4" : "f2fs", reader_of(ext ? disk : other));
    Disk block(512 * (1 + random.below(16)));
    for (std::byte& each : block) each = static_cast<std::byte>(random.below(256));
    EXPECT_LE(kind_of_write({.map = &map}, random.below(2000), block).what.size(), 2000U);
  }
}

}  // namespace
}  // namespace headcrash::explorer
