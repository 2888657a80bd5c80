#include "fs-adapters/ufs/format/format.h"

#include <gtest/gtest.h>

#include <vector>

#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/testing/superblock.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

TEST(Format, SuperblockRoundTripsWithUnknownFields) {
  Superblock s = superblock_for_tests();
  s.total = {.directories = 3, .free_blocks = 4, .free_inodes = 5, .free_fragments = 6};
  s.clean = true, s.written_at = 77, s.id = {8, 9}, s.group_rotor = 1,
  s.optimization = Optimization::space;
  std::vector<std::byte> bytes(kSuperblockUsedBytes, std::byte{0x5a});
  encode_superblock(s, bytes);
  const auto back = decode_superblock(bytes, device_bytes_for_tests(s));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->total, s.total);
  EXPECT_TRUE(back->clean);
  EXPECT_EQ(back->written_at, 77U);
  EXPECT_EQ(back->id, s.id);
  EXPECT_EQ(back->group_rotor, 1U);
  EXPECT_EQ(back->optimization, Optimization::space);
  EXPECT_EQ(back->fragments_per_group, s.fragments_per_group);
  EXPECT_EQ(load8(bytes, 212), 0x5a) << "fs_fsmnt is not ours";
  EXPECT_EQ(load32(bytes, 1372), kSuperblockMagic) << "where other systems look for it";
}

TEST(Format, RejectsSuperblocksThatWouldOverflow) {
  const auto problem = [](auto change) {
    Superblock s = superblock_for_tests();
    const std::uint64_t bytes = device_bytes_for_tests(s);
    change(s);
    return problem_of(s, bytes);
  };
  EXPECT_EQ(problem([](Superblock&) {}), "");
  EXPECT_NE(problem([](Superblock& s) { s.block_bytes = 0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.block_bytes = 12288; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.fragment_bytes = 0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.fragments_per_group = 0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.groups = 3; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.size_fragments += 8, s.groups = 2; }), "")
      << "device too short";
  EXPECT_NE(problem([](Superblock& s) { s.inodes_per_group += 64; }), "") << "inodes over data";
  EXPECT_NE(problem([](Superblock& s) { s.summary_address = 0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.summary_address = 0xfffffff0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.stagger = 8, s.stagger_mask = 0; }), "");
  EXPECT_NE(problem([](Superblock& s) { s.header_bytes = 9000; }), "");
}

TEST(Format, InodeRoundTrips) {
  Inode inode{{.mode = 0100644,
               .links = 2,
               .size_bytes = 1ULL << 33,
               .accessed = {1, 2},
               .modified = {-3, 4},
               .changed = {5, 6},
               .generation = 9,
               .user = 10,
               .group = 11}};
  inode.flags = 7;
  inode.sectors = 8;
  inode.revision = 12;
  for (std::uint32_t i = 0; i < kDirectPointers; ++i) inode.direct[i] = 100 + i;
  for (std::uint32_t i = 0; i < kIndirectPointers; ++i) inode.indirect[i] = 200 + i;
  std::vector<std::byte> bytes(kInodeBytes, std::byte{0xff});
  encode_inode(inode, bytes);
  EXPECT_EQ(decode_inode(bytes), inode);
  EXPECT_EQ(load32(bytes, kInodeDirectOffset + 44), 111U);
  EXPECT_EQ(load32(bytes, kInodeIndirectOffset), 200U);
}

TEST(Format, ShortLinkTargetsAreStoredInTheInode) {
  Inode inode{{.mode = kTypeSymlink | 0777}};
  const std::string target(59, 'x');
  set_inline_target(inode, target);
  EXPECT_EQ(inode.size_bytes, 59U);
  EXPECT_EQ(inline_target(inode), target);
  EXPECT_TRUE(pointers_are_text(inode, 60));
  EXPECT_FALSE(pointers_are_text(inode, 59)) << "a longer one has a block";
}

TEST(Geometry, GroupsAreContiguous) {
  const Superblock s = superblock_for_tests();
  const Geometry g(s);
  EXPECT_EQ(g.replica(0), 16U);
  EXPECT_EQ(g.byte_of(g.replica(0)), 16384U);
  EXPECT_EQ(g.header(1), 8000U + 24U);
  EXPECT_EQ(g.group_fragments(0), 8000U);
  EXPECT_EQ(g.group_fragments(1), 7200U);
  EXPECT_FALSE(g.is_data(0));
  EXPECT_FALSE(g.is_data(g.data_start(0) - 1));
  EXPECT_TRUE(g.is_data(g.data_start(0)));
  EXPECT_TRUE(g.is_data(8000)) << "before the second group's replica";
  EXPECT_FALSE(g.is_data(8016));
  EXPECT_FALSE(g.is_data(15200));
  EXPECT_EQ(g.inodes(), 512U);
  const InodePlace place = g.place_of(256 + 65);
  EXPECT_EQ(place.block, g.inode_table(1) + 8);
  EXPECT_EQ(place.offset, 128U);
}

TEST(Geometry, PathsPassThroughTheLevelsOfIndirection) {
  const Geometry g(superblock_for_tests(4096, 512));
  const std::uint64_t n = 1024;
  EXPECT_EQ(g.path_of(11).levels, 0U);
  EXPECT_EQ(g.path_of(11).index[0], 11U);
  EXPECT_EQ(g.path_of(12).levels, 1U);
  EXPECT_EQ(g.path_of(12 + n - 1).index[0], n - 1);
  const BlockPath twice = g.path_of(12 + n + 5 * n + 7);
  EXPECT_EQ(twice.levels, 2U);
  EXPECT_EQ(twice.index[0], 5U);
  EXPECT_EQ(twice.index[1], 7U);
  const BlockPath last = g.path_of(g.file_blocks_max() - 1);
  EXPECT_EQ(last.levels, 3U);
  EXPECT_EQ(last.index[0], n - 1);
  EXPECT_EQ(last.index[2], n - 1);
  EXPECT_EQ(g.blocks_within(1), 12 + n);
}

TEST(Geometry, OnlyTheLastDirectBlockCanConsistOfFragments) {
  const Geometry g(superblock_for_tests());
  EXPECT_EQ(g.fragments_of_block(1, 0), 1U);
  EXPECT_EQ(g.fragments_of_block(1025, 0), 2U);
  EXPECT_EQ(g.fragments_of_block(8192, 0), 8U);
  EXPECT_EQ(g.fragments_of_block(8193, 1), 1U);
  EXPECT_EQ(g.fragments_of_block(8193, 0), 8U);
  EXPECT_EQ(g.fragments_of_block(12 * 8192 + 1, 12), 8U);
}

}  // namespace
}  // namespace headcrash::ufs
