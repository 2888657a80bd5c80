#include "fs-adapters/ufs/core/cylinder_group.h"

#include <gtest/gtest.h>

#include <vector>

#include "fs-adapters/ufs/testing/superblock.h"
#include "plugin/base/little_endian.h"
#include "plugin/base/random.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

struct Bench {
  Superblock superblock;
  Geometry geometry;
  std::vector<std::byte> header;
  explicit Bench(std::uint32_t block_bytes = 8192, std::uint32_t fragment_bytes = 1024)
      : superblock(superblock_for_tests(block_bytes, fragment_bytes)),
        geometry(superblock),
        header(block_bytes) {
    EXPECT_TRUE(CylinderGroup::format(geometry, header, 1));
    EXPECT_EQ(CylinderGroup::problem_of(geometry, header, 1), "");
  }
  CylinderGroup group() { return {geometry, header, 1}; }
};

TEST(CylinderGroup, ANewGroupHasAllItsDataBlocksFree) {
  Bench bench;
  CylinderGroup group = bench.group();
  const Summary totals = group.totals();
  // The group also has two free data blocks before its replica of the superblock.
  EXPECT_EQ(totals.free_blocks, 900U - (3 + 1 + 4) + 2);
  EXPECT_EQ(totals.free_fragments, 0U);
  EXPECT_EQ(totals.free_inodes, 256U);
  EXPECT_TRUE(group.block_free(0));
  EXPECT_FALSE(group.fragment_free(16));
}

TEST(CylinderGroup, RejectsAnotherGroupsHeader) {
  Bench bench;
  EXPECT_NE(CylinderGroup::problem_of(bench.geometry, bench.header, 0), "");
  for (const std::size_t field : {4, 12, 20, 92, 96}) {
    Bench damaged;
    store32(damaged.header, field, 0xfffffff0U);
    EXPECT_NE(CylinderGroup::problem_of(damaged.geometry, damaged.header, 1), "") << field;
  }
}

TEST(CylinderGroup, BestFitTakesTheSmallestSufficientRun) {
  Bench bench;
  CylinderGroup group = bench.group();
  EXPECT_FALSE(group.find_fragments(0, 2)) << "whole blocks are not broken";
  group.use(800, 5);   // leaves 3
  group.use(1600, 6);  // leaves 2
  EXPECT_EQ(group.find_fragments(0, 1), 1606U);
  EXPECT_EQ(group.find_fragments(0, 3), 805U);
  EXPECT_FALSE(group.find_fragments(0, 4));
  EXPECT_EQ(group.runs()[2], 1U);
  EXPECT_EQ(group.runs()[3], 1U);
  EXPECT_EQ(group.totals().free_fragments, 5U);
}

TEST(CylinderGroup, RunsGrowOnlyIntoFreeFragments) {
  Bench bench;
  CylinderGroup group = bench.group();
  group.use(800, 2);
  group.use(805, 1);
  EXPECT_TRUE(group.extend(800, 2, 4));
  EXPECT_FALSE(group.extend(800, 4, 6)) << "next fragments are in use";
  EXPECT_FALSE(group.extend(805, 1, 4)) << "exceeds the block";
  EXPECT_TRUE(group.extend(805, 1, 3));
  EXPECT_EQ(group.totals().free_fragments, 1U);
}

TEST(CylinderGroup, SearchesWrapAround) {
  Bench bench;
  CylinderGroup group = bench.group();
  group.use(0, 8);
  EXPECT_EQ(group.find_block(0), 8U);
  EXPECT_EQ(group.find_block(7199), 7192U);
  for (std::uint32_t f = 8; f < 7200; f += 8)
    if (group.block_free(f)) group.use(f, 8);
  EXPECT_FALSE(group.find_block(100));
  group.free(8, 8);
  EXPECT_EQ(group.find_block(100), 8U);
  for (std::uint32_t i = 0; i < 256; ++i) group.use_inode(i, i % 2 == 0);
  EXPECT_FALSE(group.find_inode(3));
  EXPECT_EQ(group.totals().directories, 128U);
  group.free_inode(17, false);
  EXPECT_EQ(group.find_inode(30), 17U);
  EXPECT_EQ(group.find_inode(17), 17U);
}

TEST(CylinderGroup, CountsMatchTheMaps) {
  for (const auto& [block, fragment] :
       {std::pair{8192U, 1024U}, {4096U, 512U}, {8192U, 4096U}, {4096U, 4096U}}) {
    Bench bench(block, fragment);
    CylinderGroup group = bench.group();
    const std::uint32_t width = block / fragment;
    Random random(block + fragment);
    for (int step = 0; step < 4000; ++step) {
      const std::uint32_t at = static_cast<std::uint32_t>(random.below(40 * width));
      const auto count = static_cast<std::uint32_t>(1 + random.below(width - at % width));
      if (group.run_free(at, count)) {
        group.use(at, count);
      } else if (group.run_used(at, count) &&
                 bench.geometry.is_data(bench.geometry.group_base(1) + at)) {
        group.free(at, count);
      }
    }
    const auto counted = group.runs();
    const Summary totals = group.totals();
    group.recount();
    EXPECT_EQ(group.runs(), counted) << block << " " << fragment;
    EXPECT_EQ(group.totals(), totals) << block << " " << fragment;
  }
}

}  // namespace
}  // namespace headcrash::ufs
