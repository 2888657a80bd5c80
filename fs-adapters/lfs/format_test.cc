// Tests the encoding: structures survive a round trip, and damaged ones are rejected.
#include "fs-adapters/lfs/format.h"

#include <gtest/gtest.h>

#include "fs-adapters/lfs/directory_log.h"
#include "fs-adapters/lfs/image_reader.h"
#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/lfs/mkfs_settings.h"
#include "fs-adapters/lfs/region.h"
#include "plugin/base/little_endian.h"
#include "plugin/media/memory_store.h"

namespace headcrash::lfs {
namespace {

Superblock superblock(bool checksums = true) {
  Superblock s{.id = 9, .block_bytes = 1024, .segment_sectors = 128, .segments = 16};
  s.inodes = 500;
  s.reserve_segments = 4;
  s.checksums = checksums;
  s.checkpoint_sectors = Checkpoint::sectors_for(s.map_blocks(), s.usage_blocks());
  s.checkpoints = {18, 18 + s.checkpoint_sectors};
  s.first_segment = 64;
  return s;
}
constexpr std::uint64_t kDeviceSectors = 64 + 16 * 128;

TEST(LfsFormat, SuperblockRoundTrips) {
  const auto bytes = encode(superblock());
  const auto read = decode_superblock(bytes, kDeviceSectors);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->inodes, 500U);
  EXPECT_EQ(read->checkpoints, superblock().checkpoints);
  EXPECT_FALSE(decode_superblock(bytes, kDeviceSectors - 1)) << "beyond the device";
  for (std::size_t i = 0; i < 64; ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{4};
    EXPECT_FALSE(decode_superblock(damaged, kDeviceSectors)) << "byte " << i;
  }
}

TEST(LfsFormat, FindsThePointerToEveryBlockOfAFile) {
  const Superblock s = superblock();
  const std::uint32_t p = s.pointers_per_block();
  EXPECT_TRUE(s.pointer_place({0, 9}).in_inode);
  const auto first = s.pointer_place({0, 10});
  EXPECT_EQ(first.parent, (BlockId{1, 0}));
  EXPECT_EQ(first.slot, 0U);
  EXPECT_EQ(s.pointer_place({1, 0}).slot, kDirectPointers);
  const auto second = s.pointer_place({0, 10 + p});
  EXPECT_EQ(second.parent, (BlockId{1, 1}));
  EXPECT_EQ(s.pointer_place({1, 1}).parent, (BlockId{2, 0}));
  const auto third = s.pointer_place({0, 10 + p + p * p});
  EXPECT_EQ(third.parent, (BlockId{1, 1 + p}));
  EXPECT_EQ(s.pointer_place({1, 1 + p}).parent, (BlockId{2, 1}));
  EXPECT_EQ(s.pointer_place({2, 1}).parent, (BlockId{3, 0}));
  EXPECT_EQ(s.pointer_place({3, 0}).slot, kDirectPointers + 2);
  for (const BlockId id : {BlockId{0, 77}, BlockId{1, 0}, BlockId{2, 5}, BlockId{3, 0}})
    EXPECT_EQ(BlockId::of_key(id.key()), id);
}

TEST(LfsFormat, OnlyTheLastBlockOfASmallFileCanBeShort) {
  const Superblock s = superblock();
  EXPECT_EQ(s.stored_bytes(100, {0, 0}), 512U);
  EXPECT_EQ(s.stored_bytes(600, {0, 0}), 1024U);
  EXPECT_EQ(s.stored_bytes(1100, {0, 0}), 1024U);
  EXPECT_EQ(s.stored_bytes(1100, {0, 1}), 512U);
  EXPECT_EQ(s.stored_bytes(10 * 1024 + 1, {0, 10}), 1024U);
  EXPECT_EQ(s.stored_bytes(0, {0, 3}), 1024U) << "beyond the end";
}

TEST(LfsFormat, InodeRoundTrips) {
  Inode inode;
  inode.mode = 0100644;
  inode.links = 3;
  inode.number = 17;
  inode.size_bytes = 1ULL << 33U;
  inode.modified = {5, 6};
  inode.version = 9;
  inode.pointers[12] = 77;
  std::vector<std::byte> bytes(kInodeBytes);
  encode(inode, bytes);
  EXPECT_EQ(decode_inode(bytes), inode);
  EXPECT_TRUE(inode_intact(bytes, superblock()));
  bytes[20] ^= std::byte{1};
  EXPECT_FALSE(inode_intact(bytes, superblock()));
}

class Regions : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Lfs, Regions, testing::Bool());

TEST_P(Regions, RegionsRoundTrip) {
  const Superblock s = superblock(GetParam());
  Region region(s, s.segment_sectors);
  ASSERT_TRUE(region.add({Content::data, 5, 1, 0, 2}));
  ASSERT_TRUE(region.add({Content::inodes, 0, 0, 0, 1}));
  region.place(s.segment_start(3));
  region.bytes(0)[100] = std::byte{42};
  const auto bytes = region.finish({.sequence = 12, .epoch = 3, .next_segment = 4});
  const auto summary = decode_summary(bytes, s, s.segment_sectors);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->sequence, 12U);
  EXPECT_EQ(summary->entries.size(), 2U);
  EXPECT_TRUE(region_complete(*summary, s, bytes));
  EXPECT_FALSE(decode_summary(bytes, s, region.sectors() - 1)) << "no room for it";
  std::vector<std::byte> torn(bytes.begin(), bytes.end());
  std::fill(torn.end() - kSectorBytes, torn.end(), std::byte{0});
  if (!GetParam()) {
    EXPECT_FALSE(region_complete(*summary, s, torn)) << "its end is missing";
  }
  torn.assign(bytes.begin(), bytes.end());
  torn[std::size_t{summary->summary_sectors()} * kSectorBytes + 100] = std::byte{0};
  EXPECT_EQ(region_complete(*summary, s, torn), !GetParam())
      << "sprite92 cannot detect a hole in the middle";
}

/// Replaces an inode in a region by another inode; both have correct checksums. The checksum of the
/// region must nevertheless detect the change.
TEST(LfsFormat, DetectsAReplacedInodeInARegion) {
  const Superblock s = superblock();
  Region region(s, s.segment_sectors);
  ASSERT_TRUE(region.add({Content::inodes, 0, 0, 0, 1}));
  region.place(s.segment_start(3));
  Inode inode;
  inode.number = 3;
  encode(inode, region.bytes(0));
  const auto whole = region.finish({.sequence = 12, .next_segment = 4});
  std::vector<std::byte> other(whole.begin(), whole.end());
  const auto summary = decode_summary(other, s, s.segment_sectors);
  ASSERT_TRUE(summary);
  inode.number = 5;
  encode(inode, std::span(other).last(kSectorBytes));
  EXPECT_FALSE(region_complete(*summary, s, other));
}

TEST_P(Regions, CheckpointsRoundTrip) {
  const Superblock s = superblock(GetParam());
  Checkpoint c{.sequence = 5, .epoch = 2, .next_epoch = 3, .segment = 1, .next_segment = 2};
  c.map_blocks.assign(s.map_blocks(), s.first_segment);
  c.usage_blocks.assign(s.usage_blocks(), s.first_segment + 2);
  auto bytes = encode(c, s);
  ASSERT_EQ(bytes.size(), std::size_t{s.checkpoint_sectors} * kSectorBytes);
  const auto read = decode_checkpoint(bytes, s);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->map_blocks, c.map_blocks);
  bytes[520] ^= std::byte{2};  // the changed address is still within a segment
  EXPECT_EQ(decode_checkpoint(bytes, s).has_value(), !GetParam());
}

TEST(LfsMkfs, TheFirstSegmentIsAligned) {
  const auto store = *media::MemoryStore::create(std::uint64_t{32} << 11);
  for (const std::uint32_t align : {512U, 64U << 10, 96U << 10, 1U << 20}) {
    const auto made = mkfs(*store, {.segment_bytes = 256 << 10, .align_bytes = align, .id = 1});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(std::uint64_t{made->first_segment} * kSectorBytes % align, 0U) << align;
    EXPECT_LT(std::uint64_t{made->first_segment} * kSectorBytes, align + (128U << 10)) << align;
  }
  for (const std::uint32_t align : {0U, 100U, 128U << 20})
    EXPECT_FALSE(mkfs(*store, {.segment_bytes = 256 << 10, .align_bytes = align, .id = 1}))
        << align;
  EXPECT_EQ(mkfs_options_of({{"align", "256K"}})->align_bytes, 256U << 10);
}

TEST(LfsImageReader, LimitsBlocksToTheDeviceSize) {
  const auto store = *media::MemoryStore::create(1024);
  ASSERT_TRUE(mkfs(*store, {.block_bytes = 512, .segment_bytes = 16 << 10, .id = 1}));
  const auto reader = ImageReader::open(*store);
  ASSERT_TRUE(reader) << reader.error().message();
  Inode inode{.number = 5};
  inode.mode = tree::kTypeRegular;
  inode.size_bytes = std::uint64_t{1} << 20;
  inode.pointers.back() = reader->superblock().segment_start(1);
  std::vector<std::byte> block(512);
  for (std::size_t at = 0; at < block.size(); at += kPointerBytes)
    little_endian::store32(block, at, inode.pointers.back());
  ASSERT_TRUE(store->write(inode.pointers.back(), block));
  std::uint64_t visited = 0;
  EXPECT_FALSE(reader->each_block(inode, [&](const ImageReader::Block&) { ++visited; }));
  EXPECT_LE(visited, store->sectors()) << "its index blocks refer to themselves";
}

TEST(LfsDirectoryLog, RecordsRoundTrip) {
  std::vector<std::byte> bytes;
  const NameRecord made{.operation = NameOperation::create,
                        .directory = 2,
                        .directory_links = 4,
                        .target = 30,
                        .target_generation = 6,
                        .target_links = 1,
                        .name = "link",
                        .mode = 0120777,
                        .user = 10,
                        .time = {7, 8},
                        .symlink_target = "else/where"};
  const NameRecord removed{.operation = NameOperation::rename_remove,
                           .directory = 2,
                           .target = 30,
                           .target_links = 1,
                           .name = std::string(255, 'n')};
  const NameRecord counted{.operation = NameOperation::links, .target = 30, .target_links = 0};
  for (const NameRecord& record : {made, removed, counted}) append(record, bytes);
  EXPECT_EQ(bytes.size(), encoded_bytes(made) + encoded_bytes(removed) + encoded_bytes(counted));
  bytes.resize(bytes.size() + 300);
  const auto read = decode_directory_log(bytes);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0], made);
  EXPECT_EQ((*read)[1], removed);
  EXPECT_EQ((*read)[2], counted);
  bytes[2] = std::byte{99};
  EXPECT_FALSE(decode_directory_log(bytes));
}

}  // namespace
}  // namespace headcrash::lfs
