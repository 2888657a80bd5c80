// Tests allocation. There is one test for each row of the table in allocator.h.
#include "fs-adapters/ufs/core/allocator.h"

#include <cerrno>
#include <set>

#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;

struct AllocatorWorld {
  explicit AllocatorWorld(std::uint32_t reserve_percent = 0)
      : m(bench::setup_named("no-order"), {.mkfs = {.block_bytes = 4096,
                                                    .fragment_bytes = 1024,
                                                    .bytes_per_inode = 4096,
                                                    .group_bytes = 1 << 20,
                                                    .reserve_percent = reserve_percent}}) {
    m.mount();
  }
  /// Runs `body` with the allocator and an inode in group 0. `body` allocates space for this inode.
  void run(const std::function<void(Allocator&, CoreInode&)>& body) {
    m.as_user([&] {
      const auto root = volume().inodes.get(kRootInode, nullptr);
      ASSERT_TRUE(root);
      body(volume().allocator, **root);
    });
  }
  Volume& volume() { return m.file_system->volume(); }
  const Geometry& geometry() { return volume().geometry; }

  Mounted m;
};

TEST(Allocator, PlacesABlockAfterTheFilesPreviousOne) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    const auto first = allocator.allocate(inode, 0, 0, 4);
    ASSERT_TRUE(first);
    EXPECT_EQ(w.geometry().group_of_fragment(*first), w.geometry().group_of_inode(inode.number));
    const auto second = allocator.allocate(inode, 1, *first, 4);
    EXPECT_EQ(*second, *first + 4);
    const auto elsewhere = allocator.allocate(inode, 0, 0, 4);
    const auto third = allocator.allocate(inode, 2, *second, 4);
    EXPECT_NE(*third, *elsewhere);
  });
}

TEST(Allocator, LeavesAGapAfterEachBlock) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    allocator.policy({.gap_blocks = 1});
    const auto first = allocator.allocate(inode, 0, 0, 4);
    ASSERT_TRUE(first);
    const auto second = allocator.allocate(inode, 1, *first, 4);
    EXPECT_EQ(*second, *first + 8);
    // The gap between the two blocks is still available.
    EXPECT_EQ(*allocator.allocate(inode, 1, *first - 4, 4), *first + 4);
  });
}

TEST(Allocator, SpreadPlacementStartsFilesAnywhereButKeepsThemContiguous) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    allocator.policy({.placement = Placement::spread});
    std::set<std::uint32_t> groups;
    for (InodeNumber number = 10; number < 40; ++number) {
      CoreInode file(w.m.executor, number);
      const auto first = allocator.allocate(file, 0, 0, 4);
      ASSERT_TRUE(first);
      // The first file in a group is placed before the group's tables, so the tables separate the
      // file's first block from its next one.
      if (groups.insert(w.geometry().group_of_fragment(*first)).second) continue;
      // The next allocation is for an index block, which has no previous block.
      const auto index = allocator.allocate(file, kDirectPointers, 0, 4);
      EXPECT_EQ(*index, *first + 4);
      EXPECT_EQ(*allocator.allocate(file, kDirectPointers, 0, 4), *index + 4);
    }
    EXPECT_GE(groups.size(), 5U) << "of 8 groups, although all files are in one directory";
    EXPECT_EQ(w.geometry().group_of_inode(*allocator.allocate_inode(inode.number, true)), 0U)
        << "lowest free number, also for directories";
  });
}

TEST(Allocator, IndirectBlocksGoToAGroupWithAverageFreeSpace) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    while (w.volume().groups[0].free_blocks > 20) EXPECT_TRUE(allocator.allocate(inode, 0, 0, 4));
    const auto at = allocator.allocate(inode, kDirectPointers, 0, 4);
    ASSERT_TRUE(at);
    EXPECT_NE(w.geometry().group_of_fragment(*at), 0U);
    EXPECT_EQ(w.geometry().group_of_fragment(*allocator.allocate(inode, 0, 0, 4)), 0U);
  });
}

TEST(Allocator, PlacesFragmentsInPartlyUsedBlocks) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    const std::uint32_t blocks = w.volume().super.total.free_blocks;
    ASSERT_TRUE(allocator.allocate(inode, 0, 0, 1) && allocator.allocate(inode, 0, 0, 2));
    EXPECT_GE(w.volume().super.total.free_blocks + 1, blocks) << "in a partly used block";
    const auto whole = allocator.allocate(inode, 0, 0, 4);
    EXPECT_EQ(*whole % 4, 0U);
  });
}

TEST(Allocator, AllocatesNoSpaceTwice) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    std::set<FragmentAddress> taken;
    std::uint32_t want = 1;
    for (auto at = allocator.allocate(inode, 0, 0, want); at;
         at = allocator.allocate(inode, 0, 0, want)) {
      for (std::uint32_t i = 0; i < want; ++i) {
        EXPECT_TRUE(w.geometry().is_data(*at + i));
        EXPECT_TRUE(taken.insert(*at + i).second) << *at + i;
      }
      want = want % 4 + 1;
    }
    while (const auto at = allocator.allocate(inode, 0, 0, 1))
      EXPECT_TRUE(taken.insert(*at).second);
    EXPECT_EQ(allocator.free_fragments(), 0U) << "to the last fragment, in all groups";
    const FragmentAddress again = *taken.begin();
    EXPECT_TRUE(allocator.free(again, 1));
    EXPECT_EQ(*allocator.allocate(inode, 0, 0, 1), again);
  });
}

TEST(Allocator, TheReserveIsNotAllocated) {
  AllocatorWorld w(10);
  w.run([&](Allocator& allocator, CoreInode& inode) {
    while (allocator.allocate(inode, 0, 0, 4)) {
    }
    while (allocator.allocate(inode, 0, 0, 1)) {
    }
    EXPECT_EQ(allocator.available_fragments(), 0U);
    EXPECT_EQ(allocator.free_fragments(), std::uint64_t{w.volume().super.data_fragments} / 10);
    EXPECT_EQ(allocator.allocate(inode, 0, 0, 1).error().value, ENOSPC);
  });
}

TEST(Allocator, CanExtendAFragmentIntoTheLastFreeOne) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    const auto block = allocator.allocate(inode, 0, 0, 4);
    ASSERT_TRUE(block);
    while (allocator.allocate(inode, 0, 0, 1)) {
    }
    EXPECT_EQ(allocator.free_fragments(), 0U);
    ASSERT_TRUE(allocator.free(*block + 3, 1));
    const auto extended = allocator.extend(inode, *block, 3, 4);
    ASSERT_TRUE(extended);
    EXPECT_TRUE(*extended);
  });
}

TEST(Allocator, AFragmentGrowsInPlaceIfItsNeighbourIsFree) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    const auto at = allocator.allocate(inode, 0, 0, 4);
    ASSERT_TRUE(at && allocator.free(*at + 1, 3));
    const std::uint64_t free = allocator.free_fragments();
    EXPECT_EQ(allocator.extend(inode, *at, 1, 3).value_or(false), true);
    EXPECT_EQ(allocator.free_fragments(), free - 2);
    EXPECT_EQ(allocator.extend(inode, *at, 2, 3).value_or(true), false)
        << "following fragments are taken";
    EXPECT_EQ(allocator.free_fragments(), free - 2);
  });
}

TEST(Allocator, SpreadsDirectoriesButKeepsFilesInTheirDirectorysGroup) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode&) {
    std::set<std::uint32_t> groups;
    InodeNumber last = 0;
    for (std::uint32_t i = 1; i < w.geometry().groups(); ++i) {
      const auto number = allocator.allocate_inode(kRootInode, true);
      ASSERT_TRUE(number);
      EXPECT_TRUE(groups.insert(w.geometry().group_of_inode(*number)).second);
      last = *number;
    }
    const auto file = allocator.allocate_inode(last, false);
    EXPECT_EQ(w.geometry().group_of_inode(*file), w.geometry().group_of_inode(last));
  });
}

TEST(Allocator, AFreedInodeIsReusedFirst) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode&) {
    const auto one = allocator.allocate_inode(kRootInode, false);
    const auto two = allocator.allocate_inode(kRootInode, false);
    ASSERT_TRUE(one && two);
    EXPECT_NE(*one, *two);
    EXPECT_TRUE(allocator.free_inode(*one, false));
    EXPECT_EQ(*allocator.allocate_inode(kRootInode, false), *one);
  });
}

TEST(Allocator, RejectsFreeingUnusedSpace) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    const auto at = allocator.allocate(inode, 0, 0, 4);
    const std::uint64_t free = allocator.free_fragments();
    EXPECT_TRUE(allocator.free(*at, 4));
    EXPECT_EQ(allocator.free(*at, 4).error().value, EIO) << "freed twice";
    EXPECT_EQ(allocator.free(w.geometry().header(0), 1).error().value, EIO) << "not data";
    EXPECT_EQ(allocator.free(*at + 2, 4).error().value, EIO) << "across the end of a block";
    EXPECT_EQ(allocator.free_fragments(), free + 4);
    const auto number = allocator.allocate_inode(kRootInode, false);
    EXPECT_TRUE(allocator.free_inode(*number, false));
    EXPECT_EQ(allocator.free_inode(*number, false).error().value, EIO);
  });
}

TEST(Allocator, TotalsMatchTheSumsOfTheGroups) {
  AllocatorWorld w;
  w.run([&](Allocator& allocator, CoreInode& inode) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(allocator.allocate(inode, i, 0, i % 4 + 1));
      EXPECT_TRUE(allocator.allocate_inode(kRootInode, i % 3 == 0));
    }
    Summary sum;
    for (std::uint32_t group = 0; group < w.geometry().groups(); ++group) {
      auto buffer = w.volume().read_block(w.geometry().header(group));
      ASSERT_TRUE(buffer);
      const Summary totals = CylinderGroup(w.geometry(), buffer->bytes(), group).totals();
      EXPECT_EQ(totals.free_blocks, w.volume().groups[group].free_blocks);
      EXPECT_EQ(totals.free_fragments, w.volume().groups[group].free_fragments);
      sum.free_blocks += totals.free_blocks;
      sum.free_fragments += totals.free_fragments;
      sum.free_inodes += totals.free_inodes;
      sum.directories += totals.directories;
    }
    const Summary& total = w.volume().super.total;
    EXPECT_EQ(sum.free_blocks, total.free_blocks);
    EXPECT_EQ(sum.free_fragments, total.free_fragments);
    EXPECT_EQ(sum.free_inodes, total.free_inodes);
    EXPECT_EQ(sum.directories, total.directories);
  });
}

}  // namespace
}  // namespace headcrash::ufs
