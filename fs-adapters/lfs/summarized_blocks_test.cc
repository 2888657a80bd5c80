// What the summaries of a log say of a file, and when they do not say all.
#include "fs-adapters/lfs/summarized_blocks.h"

#include <gtest/gtest.h>

namespace headcrash::lfs {
namespace {

constexpr InodeNumber kFile = 5;

SummaryEntry data(std::uint32_t index, std::uint32_t version = 0) {
  return {
      .content = Content::data, .inode = kFile, .version = version, .index = index, .sectors = 8};
}

/// A file with blocks 0 and 1 at 100 and 108.
Inode inode_of_two() {
  Inode inode;
  inode.number = kFile;
  inode.sectors = 16;
  inode.pointers[0] = 100;
  inode.pointers[1] = 108;
  return inode;
}

TEST(LfsSummarizedBlocks, AreTheNewestOfEach) {
  SummarizedBlocks told;
  told.add(data(0), 50);
  told.add(data(1), 108);
  told.inode_follows(kFile);
  told.add(data(0), 100);
  told.inode_follows(kFile);
  const auto* const blocks = told.all_of(inode_of_two());
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->size(), 2U);
  EXPECT_EQ(blocks->at({0, 0}).address, 100U);
}

TEST(LfsSummarizedBlocks, EndAtTheNewestInode) {
  SummarizedBlocks told;
  told.add(data(0), 100);
  told.add(data(1), 108);
  told.inode_follows(kFile);
  told.add(data(1), 300);
  const auto* const blocks = told.all_of(inode_of_two());
  ASSERT_NE(blocks, nullptr);
  EXPECT_EQ(blocks->at({0, 1}).address, 108U);
}

TEST(LfsSummarizedBlocks, DoNotSayWhatIsDeadAgain) {
  SummarizedBlocks told;
  for (std::uint32_t i = 0; i < 3; ++i) told.add(data(i), 100 + 8 * i);
  told.inode_follows(kFile);
  EXPECT_EQ(told.all_of(inode_of_two()), nullptr) << "block 2 was cut off";
}

TEST(LfsSummarizedBlocks, AreOfOneVersion) {
  SummarizedBlocks told;
  told.add(data(0, 0), 50);
  told.inode_follows(kFile);
  Inode inode = inode_of_two();
  inode.version = 1;
  EXPECT_EQ(told.all_of(inode), nullptr);
  told.add(data(0, 1), 100);
  told.add(data(1, 1), 108);
  told.inode_follows(kFile);
  EXPECT_NE(told.all_of(inode), nullptr);
}

TEST(LfsSummarizedBlocks, LieWhereTheInodeSays) {
  SummarizedBlocks told;
  told.add(data(0), 100);
  told.add(data(1), 116);
  told.inode_follows(kFile);
  EXPECT_EQ(told.all_of(inode_of_two()), nullptr);
}

TEST(LfsSummarizedBlocks, HaveABound) {
  SummarizedBlocks told;
  told.add(data(0), 100);
  told.add(data(1), 108);
  told.inode_follows(kFile);
  for (std::size_t i = 0; i < SummarizedBlocks::kEntriesMax; ++i)
    told.add({.content = Content::data, .inode = 9, .index = static_cast<std::uint32_t>(i)}, 1000);
  EXPECT_EQ(told.all_of(inode_of_two()), nullptr);
}

}  // namespace
}  // namespace headcrash::lfs
