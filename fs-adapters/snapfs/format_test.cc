// Tests the encoding: structures survive a round trip, and damaged or torn ones are rejected.
#include "fs-adapters/snapfs/format.h"

#include <gtest/gtest.h>

#include "fs-adapters/snapfs/check.h"
#include "fs-adapters/snapfs/mkfs.h"
#include "fs-adapters/snapfs/space.h"
#include "plugin/media/memory_store.h"

namespace headcrash::snapfs {
namespace {

constexpr std::uint64_t kDeviceSectors = 4000;

Superblock superblock(std::uint64_t generation = 7) {
  return {.id = 9,
          .block_bytes = 1024,
          .blocks = 2000,
          .inodes = 300,
          .generation = generation,
          .record_map = static_cast<BlockAddress>(100 + generation),
          .inode_map = static_cast<BlockAddress>(200 + generation),
          .block_map = static_cast<BlockAddress>(300 + generation),
          .free_blocks = 1000,
          .free_inodes = 200,
          .time = {5, 6}};
}

TEST(SnapfsFormat, SuperblockRoundTrips) {
  const auto bytes = encode(superblock());
  const auto read = decode_superblock(bytes, kDeviceSectors);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(encode(*read), bytes);
  EXPECT_FALSE(decode_superblock(bytes, kDeviceSectors - 1)) << "beyond the device";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{4};
    EXPECT_FALSE(decode_superblock(damaged, kDeviceSectors)) << "byte " << i;
  }
}

/// Overwrites the previous superblock with each subset of the new superblock's sectors.
TEST(SnapfsFormat, RejectsATornSuperblock) {
  for (const VersionCheck check : {VersionCheck::every_sector, VersionCheck::first_sector}) {
    Superblock older = superblock(5), newer = superblock(7);
    older.version_check = newer.version_check = check;
    const auto before = encode(older), after = encode(newer);
    int mixed = 0;
    for (unsigned mask = 0; mask < 16; ++mask) {
      auto torn = before;
      for (std::size_t sector = 0; sector < 4; ++sector)
        if ((mask >> sector & 1U) != 0)
          std::copy_n(after.begin() + static_cast<std::ptrdiff_t>(sector * kSectorBytes),
                      kSectorBytes,
                      torn.begin() + static_cast<std::ptrdiff_t>(sector * kSectorBytes));
      const auto read = decode_superblock(torn, kDeviceSectors);
      const bool whole = torn == before || torn == after;
      if (whole) {
        EXPECT_TRUE(read) << mask;
      }
      mixed += read.has_value() && !whole ? 1 : 0;
    }
    EXPECT_EQ(mixed > 0, check == VersionCheck::first_sector);
  }
}

TEST(SnapfsFormat, UsesTheNewerValidSlot) {
  const auto store = *media::MemoryStore::create(kDeviceSectors);
  const auto none = read_superblock(*store);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("mkfs"), std::string::npos);
  for (const std::uint64_t generation : {6U, 7U})
    EXPECT_TRUE(store->write(slot_lba(generation), encode(superblock(generation))));
  EXPECT_EQ(read_superblock(*store)->generation, 7U);
  auto damaged = encode(superblock(7));
  damaged[kSuperblockBytes - 1] ^= std::byte{1};
  EXPECT_TRUE(store->write(slot_lba(7), damaged));
  EXPECT_EQ(read_superblock(*store)->generation, 6U);
}

TEST(SnapfsFormat, FindsThePointerToEveryBlockOfAFile) {
  const Superblock s = superblock();
  const std::uint64_t p = s.pointers_per_block();
  EXPECT_EQ(s.path_to(11).root, 11U);
  EXPECT_EQ(s.path_to(11).depth, 0U);
  EXPECT_EQ(s.path_to(12).root, kDirectPointers);
  EXPECT_EQ(s.path_to(12).depth, 1U);
  EXPECT_EQ(s.path_to(12 + p - 1).slots[0], p - 1);
  const PointerPath twice = s.path_to(12 + p + p + 3);
  EXPECT_EQ(twice.root, kDirectPointers + 1);
  EXPECT_EQ(twice.slots[0], 1U);
  EXPECT_EQ(twice.slots[1], 3U);
  const PointerPath thrice = s.path_to(12 + p + p * p + p * p + 2 * p + 5);
  EXPECT_EQ(thrice.root, kDirectPointers + 2);
  EXPECT_EQ(thrice.slots, (std::array<std::uint32_t, 3>{1, 2, 5}));
}

TEST(SnapfsFormat, TreeDepthIsComputedFromTheNumberOfLeaves) {
  EXPECT_EQ(TreeShape::over(1, 512).depth, 0U);
  const TreeShape one = TreeShape::over(128, 512);
  EXPECT_EQ(one.depth, 1U);
  EXPECT_EQ(one.nodes, 1U);
  const TreeShape two = TreeShape::over(129, 512);
  EXPECT_EQ(two.depth, 2U);
  EXPECT_EQ(two.nodes, 3U);
  EXPECT_EQ(two.slot(128, 0), 1U);
  EXPECT_EQ(two.slot(128, 1), 0U);
}

TEST(SnapfsFormat, InodeRecordRoundTrips) {
  Inode inode;
  inode.mode = 0100644;
  inode.links = 3;
  inode.number = 17;
  inode.size_bytes = 1ULL << 23U;
  inode.modified = {5, 6};
  inode.pointers[12] = 77;
  std::vector<std::byte> bytes(kInodeBytes);
  EXPECT_EQ(decode_inode(bytes, 17, superblock()).value(), std::nullopt);
  encode(inode, bytes);
  EXPECT_EQ(decode_inode(bytes, 17, superblock()).value(), inode);
  EXPECT_FALSE(decode_inode(bytes, 18, superblock())) << "record of another inode";
  bytes[20] ^= std::byte{1};
  EXPECT_FALSE(decode_inode(bytes, 17, superblock()));
}

TEST(SnapfsSpace, SearchesFromAGivenBlockAndWrapsAround) {
  BlockSpace space(70);
  for (BlockAddress address = 0; address < 70; ++address)
    if (address != 3 && address != 66) space.take(address);
  EXPECT_EQ(space.free(), 2U);
  EXPECT_EQ(space.allocate(10), 66U);
  EXPECT_EQ(space.allocate(67), 3U);
  EXPECT_EQ(space.allocate(0), std::nullopt);
  space.give_back(69);
  EXPECT_EQ(space.allocate(69), 69U);
}

TEST(SnapfsMkfs, CreatesAConsistentFileSystem) {
  for (const std::uint32_t block : {512U, 1024U, 4096U, 8192U}) {
    const auto store = *media::MemoryStore::create(20'000);
    const auto made = mkfs(*store, {.block_bytes = block, .bytes_per_inode = 1024, .id = 1});
    ASSERT_TRUE(made) << made.error().message();
    const auto report = check(*store);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->nothing_found()) << block << "\n" << report->text();
    EXPECT_EQ(report->directories, 1U);
  }
}

TEST(SnapfsMkfs, RejectsInvalidOptions) {
  const auto store = *media::MemoryStore::create(200);
  const auto small = mkfs(*store, {});
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message().find("or smaller blocks"), std::string::npos)
      << small.error().message();
  EXPECT_FALSE(mkfs(*store, {.block_bytes = 1000}));
  EXPECT_FALSE(mkfs(*store, {.block_bytes = 512, .bytes_per_inode = 1}));
}

}  // namespace
}  // namespace headcrash::snapfs
