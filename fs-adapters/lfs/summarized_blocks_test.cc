// Tests SummarizedBlocks: finding a file's blocks from summaries alone, and the cases in which that
// is impossible.
#include "fs-adapters/lfs/summarized_blocks.h"

#include <gtest/gtest.h>

namespace headcrash::lfs {
namespace {

constexpr InodeNumber kFile = 5;

SummaryEntry data(std::uint32_t index, std::uint32_t version = 0) {
  return {
      .content = Content::data, .inode = kFile, .version = version, .index = index, .sectors = 8};
}

/// Returns an inode with block 0 at address 100 and block 1 at address 108.
Inode inode_of_two() {
  Inode inode;
  inode.number = kFile;
  inode.sectors = 16;
  inode.pointers[0] = 100;
  inode.pointers[1] = 108;
  return inode;
}

TEST(LfsSummarizedBlocks, ContainTheNewestCopyOfEachBlock) {
  SummarizedBlocks summarized;
  summarized.add(data(0), 50);
  summarized.add(data(1), 108);
  summarized.inode_follows(kFile);
  summarized.add(data(0), 100);
  summarized.inode_follows(kFile);
  const auto* const blocks = summarized.all_of(inode_of_two());
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->size(), 2U);
  EXPECT_EQ(blocks->at({0, 0}).address, 100U);
}

TEST(LfsSummarizedBlocks, IgnoreBlocksAfterTheNewestInode) {
  SummarizedBlocks summarized;
  summarized.add(data(0), 100);
  summarized.add(data(1), 108);
  summarized.inode_follows(kFile);
  summarized.add(data(1), 300);
  const auto* const blocks = summarized.all_of(inode_of_two());
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->at({0, 1}).address, 108U);
}

TEST(LfsSummarizedBlocks, AreNotUsedIfTheyIncludeDeadBlocks) {
  SummarizedBlocks summarized;
  for (std::uint32_t i = 0; i < 3; ++i) summarized.add(data(i), 100 + 8 * i);
  summarized.inode_follows(kFile);
  EXPECT_EQ(summarized.all_of(inode_of_two()), nullptr) << "block 2 was truncated";
}

TEST(LfsSummarizedBlocks, BelongToOneVersionOfTheInode) {
  SummarizedBlocks summarized;
  summarized.add(data(0, 0), 50);
  summarized.inode_follows(kFile);
  Inode inode = inode_of_two();
  inode.version = 1;
  EXPECT_EQ(summarized.all_of(inode), nullptr);
  summarized.add(data(0, 1), 100);
  summarized.add(data(1, 1), 108);
  summarized.inode_follows(kFile);
  EXPECT_NE(summarized.all_of(inode), nullptr);
}

TEST(LfsSummarizedBlocks, MatchTheInodesAddresses) {
  SummarizedBlocks summarized;
  summarized.add(data(0), 100);
  summarized.add(data(1), 116);
  summarized.inode_follows(kFile);
  EXPECT_EQ(summarized.all_of(inode_of_two()), nullptr);
}

TEST(LfsSummarizedBlocks, UseBoundedMemory) {
  SummarizedBlocks summarized;
  summarized.add(data(0), 100);
  summarized.add(data(1), 108);
  summarized.inode_follows(kFile);
  for (std::size_t i = 0; i < SummarizedBlocks::kEntriesMax; ++i)
    summarized.add({.content = Content::data, .inode = 9, .index = static_cast<std::uint32_t>(i)},
                   1000);
  EXPECT_EQ(summarized.all_of(inode_of_two()), nullptr);
}

}  // namespace
}  // namespace headcrash::lfs
