// Compares numbers of disk writes with measurements of FFS in OpenBSD 2.8. The workload creates 300
// files of one block in one directory, syncs, removes the files and syncs again. OpenBSD issued
// 608, 307, 600 and 8 writes in these four steps, and 1, 310, 0 and 10 writes with the mount option
// async.

#include <algorithm>
#include <set>
#include <vector>

#include "fs-adapters/ufs/core/bmap_cache.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;

struct Writes {
  double create = 0, create_flush = 0, remove = 0, remove_flush = 0;
};

Writes writes_of(const Setup& setup) {
  Mounted m(setup, {.device_bytes = 64 << 20,
                    .mkfs = {.block_bytes = 8192, .fragment_bytes = 1024, .bytes_per_inode = 8192},
                    .cache_bytes = 32 << 20,
                    .syncer = {.policy = os::SyncerOptions::Policy::none}});
  m.mount();
  Writes counted;
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_TRUE(fs.mkdir("d", 0755));
    EXPECT_TRUE(fs.sync());
    const auto since = [&](std::uint64_t& before) {
      const std::uint64_t now = m.queue.counters().issued_writes;
      return static_cast<double>(now - std::exchange(before, now));
    };
    std::uint64_t before = m.queue.counters().issued_writes;
    const std::string block(8192, 'x');
    for (int i = 0; i < 300; ++i) bench::put_file(fs, "d/file" + std::to_string(i), block);
    counted.create = since(before);
    EXPECT_TRUE(fs.sync());
    counted.create_flush = since(before);
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(fs.unlink("d/file" + std::to_string(i)));
    counted.remove = since(before);
    EXPECT_TRUE(fs.sync());
    counted.remove_flush = since(before);
  });
  m.unmount();
  bench::expect_clean(*m.store);
  return counted;
}

/// Expects two numbers to agree within 15 %, or within 6 writes if they are small.
void expect_near(double got, double real) {
  EXPECT_NEAR(got, real, std::max(6.0, 0.15 * real));
}

TEST(WriteCounts, TheConventionalSchemeMatchesBsd) {
  const Writes w = writes_of(bench::setup_named("conventional-bsd"));
  expect_near(w.create, 608);
  expect_near(w.create_flush, 307);
  expect_near(w.remove, 600);
  expect_near(w.remove_flush, 8);
}

TEST(WriteCounts, TheNoOrderSchemeMatchesAsyncMounts) {
  const Writes w = writes_of(bench::setup_named("no-order"));
  expect_near(w.create, 1);
  expect_near(w.create_flush, 310);
  expect_near(w.remove, 0);
  expect_near(w.remove_flush, 10);
}

/// Sprite OFS waits for only one kind of metadata write, the write of a removed inode (Rosenblum
/// 1992, section 6.2.1.1).
TEST(WriteCounts, TheNoOrderSchemeCanWaitForRemovedInodes) {
  bench::Setup setup = bench::setup_named("no-order");
  setup.mount.options.removed_inode = LastWrite::synchronous;
  const Writes w = writes_of(setup);
  expect_near(w.create, 1);
  expect_near(w.remove, 300);
}

TEST(WriteCounts, ThePapersConventionalSchemeWritesOncePerCreate) {
  const Writes w = writes_of(bench::setup_named("conventional"));
  expect_near(w.create, 304);
  expect_near(w.remove, 600);
}

TEST(WriteCounts, SoftUpdatesWriteLittleMoreThanTheNoOrderScheme) {
  const Writes w = writes_of(bench::setup_named("soft-updates"));
  EXPECT_EQ(w.create, 0);
  EXPECT_EQ(w.remove, 0);
  EXPECT_LT(w.create_flush, 310 * 1.1);
  EXPECT_LT(w.remove_flush, 50);
}

/// For comparison, NetBSD's write-ahead metadata journal (WAPBL) writes 0 blocks for the creations,
/// 303 for the sync after them, 11 for the removals and 3 for the last sync. Our last sync may
/// write more, because a sync also writes all blocks in place.
TEST(WriteCounts, AJournalWritesLittleMoreThanTheNoOrderScheme) {
  const Writes w = writes_of(bench::journal_setup());
  EXPECT_LT(w.create, 15);
  expect_near(w.create_flush, 303);
  EXPECT_LT(w.remove, 15);
  EXPECT_LT(w.remove_flush, 50);
}

TEST(WriteCounts, ASynchronousJournalWritesTwicePerName) {
  const Writes w = writes_of(bench::journal_setup({.commit = JournalOptions::Commit::synchronous}));
  expect_near(w.create, 900);  // includes the file's data block
  EXPECT_LT(w.create_flush, 20);
  expect_near(w.remove, 600);
  EXPECT_LT(w.remove_flush, 20);
}

/// Numbers of disk writes for blocks that are appended to a file, with an fsync after each block.
/// At the beginning, the file has only its direct blocks (96 KB).
struct AppendWrites {
  std::vector<std::uint64_t> first;  ///< for blocks 12, 13, ...
  /// For the 28 blocks that follow those of `first`.
  std::vector<std::uint64_t> steady;
};

AppendWrites append_writes_of(const Setup& setup) {
  constexpr std::size_t kBlock = 8192;
  Mounted m(setup,
            {.device_bytes = 64 << 20,
             .mkfs = {.block_bytes = kBlock, .fragment_bytes = 1024, .bytes_per_inode = 8192},
             .cache_bytes = 32 << 20,
             .syncer = {.policy = os::SyncerOptions::Policy::none}});
  m.mount();
  AppendWrites counted;
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "file", std::string(kDirectPointers * kBlock, 'x'),
                    tree::bench::Fsync::yes);
    const auto file = fs.open("file", {});
    ASSERT_TRUE(file);
    const std::string bytes(kBlock, 'y');
    for (std::uint64_t block = 0; block < 46; ++block) {
      const std::uint64_t before = m.queue.counters().issued_writes;
      EXPECT_TRUE(fs.append(*file, bench::bytes_of(bytes)));
      EXPECT_TRUE(fs.fsync(*file));
      (block < 18 ? counted.first : counted.steady)
          .push_back(m.queue.counters().issued_writes - before);
    }
    EXPECT_TRUE(fs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*m.store);
  return counted;
}

/// An append writes the data, the inode and the indirect block. This is the paper's baseline
/// (section 3.3, "2.58 disk operations for each NFS write"). The first append also writes the
/// zeroes that initialise the indirect block.
TEST(WriteCounts, AnAppendBeyondTheDirectBlocksWritesThreeBlocks) {
  const AppendWrites w = append_writes_of(bench::setup_named("conventional-bsd"));
  EXPECT_EQ(w.first.front(), 4U);
  EXPECT_EQ(std::set(w.first.begin() + 1, w.first.end()), std::set<std::uint64_t>{3});
  EXPECT_EQ(std::set(w.steady.begin(), w.steady.end()), std::set<std::uint64_t>{3});
}

/// An append writes the data and the inode's block: one write less than without a cache. When the
/// cache of 14 addresses is full, the indirect block is written as well.
TEST(WriteCounts, AnAppendWithABmapCacheWritesTwoBlocks) {
  const AppendWrites w = append_writes_of(bench::setup_named("netra-bmap"));
  std::vector<std::uint64_t> first(18, 2);
  first.at(BmapCache::kAddressesMax) = 3;
  EXPECT_EQ(w.first, first);
  EXPECT_EQ(std::ranges::count(w.steady, 3U), 2);
  EXPECT_EQ(std::ranges::count(w.steady, 2U), 26);
}

/// Before the appends of `steady`, all groups have been marked busy, so these appends write no
/// further marks.
TEST(WriteCounts, AnAppendWithNetraWritesTwoBlocks) {
  const AppendWrites w = append_writes_of(bench::setup_named("netra"));
  EXPECT_EQ(std::ranges::count(w.steady, 3U), 2);
  EXPECT_EQ(std::ranges::count(w.steady, 2U), 26);
}

}  // namespace
}  // namespace headcrash::ufs
