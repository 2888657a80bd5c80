// Tests a full disk. ENOSPC must be reported while there is still enough space for removals, and
// removals must free space.
#include <random>

#include "fs-adapters/snapfs/testing/mounted.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;

std::string name_of_file(int i) {
  return "d" + std::to_string(i % 5) + "/f" + std::to_string(i);
}

/// Creates files until ENOSPC. Returns the number of files.
int fill(Vfs& fs, std::size_t bytes, int first = 0) {
  const std::string text(bytes, 'f');
  for (int i = first;; ++i) {
    const auto file = fs.open(name_of_file(i), {.create = true});
    if (!file) {
      EXPECT_EQ(file.error().value, ENOSPC);
      return i;
    }
    const auto written = fs.pwrite(*file, 0, bench::bytes_of(text));
    EXPECT_TRUE(fs.close(*file));
    if (written) continue;
    EXPECT_EQ(written.error().value, ENOSPC);
    const auto removed = fs.unlink(name_of_file(i));
    EXPECT_TRUE(removed) << removed.error().value;
    return i;
  }
}

class FullDisk : public testing::TestWithParam<DataMode> {};
INSTANTIATE_TEST_SUITE_P(Snapfs, FullDisk,
                         testing::Values(DataMode::ordered, DataMode::unordered,
                                         DataMode::copy_on_write));

TEST_P(FullDisk, RejectsWritesUntilFilesAreDeleted) {
  Disk disk({.device_bytes = 2 << 20, .mkfs = {.block_bytes = 1024, .id = 2}});
  Machine m(*disk.store, 512 << 10);
  m.mount({.data = GetParam()});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const Store& store = m.file_system->snapshots();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(fs.mkdir("d" + std::to_string(i), 0755));
    for (int round = 0; round < 4; ++round) {
      const int files = fill(fs, 20'000);
      EXPECT_GT(files, 80) << "round " << round;
      EXPECT_FALSE(store.stopped());
      EXPECT_LT(fs.space()->free_bytes, 30'000U);
      for (int i = 0; i < files; ++i) EXPECT_EQ(fs.stat(name_of_file(i))->size_bytes, 20'000U);
      // The removals take place without a sync between them. Each removal copies blocks, although
      // few blocks are free.
      for (int i = round % 2; i < files; i += 2) {
        const auto removed = fs.unlink(name_of_file(i));
        EXPECT_TRUE(removed) << removed.error().value;
      }
      EXPECT_GT(fs.space()->free_bytes, 700'000U);
      EXPECT_GT(fill(fs, 9'000, 1000), 1060) << "round " << round;
      for (int i = 1000; fs.unlink(name_of_file(i)); ++i) {
      }
      for (int i = 0; i < files; ++i) (void)fs.unlink(name_of_file(i));
    }
    EXPECT_FALSE(store.stopped());
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// If a write beyond the end of a file runs out of space, the blocks that it has allocated must be
/// freed. The block that contained the end of the file must be unchanged, because it belongs to the
/// committed generation.
TEST_P(FullDisk, AWriteWithoutSpaceLeavesTheFileUnchanged) {
  for (std::size_t left = 1; left < 40; ++left) {
    SCOPED_TRACE(left);
    Disk disk({.device_bytes = 700 << 10, .mkfs = {.block_bytes = 512, .id = 2}});
    Machine m(*disk.store, 256 << 10);
    m.mount({.data = GetParam()});
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      const auto file = fs.open("short", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(100, 's'))));
      const auto filler = fs.open("filler", {.create = true});
      ASSERT_TRUE(filler);
      while (fs.space()->free_bytes > left * 512 &&
             fs.append(*filler, bench::bytes_of(std::string(512, 'f')))) {
      }
      EXPECT_TRUE(fs.close(*filler));
      EXPECT_TRUE(fs.sync());
      const auto written = fs.pwrite(*file, 5'000, bench::bytes_of(std::string(60'000, 'l')));
      ASSERT_FALSE(written);
      EXPECT_EQ(written.error().value, ENOSPC);
      EXPECT_EQ(fs.stat("short")->size_bytes, 100U);
      EXPECT_TRUE(fs.sync());
      bench::expect_clean(*disk.store);
      EXPECT_TRUE(fs.close(*file));
      EXPECT_EQ(bench::get_file(fs, "short").size(), 100U);
    });
    m.unmount();
    bench::expect_clean(*disk.store);
  }
}

/// When a generation ends, a block of inode records must be copied for each changed inode. The
/// generation's operations must leave enough space for these copies.
TEST_P(FullDisk, CanChangeInodesInManyBlocks) {
  Disk disk(
      {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .bytes_per_inode = 1024, .id = 2}});
  Machine m(*disk.store, 512 << 10);
  m.mount({.data = GetParam(), .dirty_blocks_max = 100'000});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    constexpr int kFiles = 600;
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(fs.mkdir("d" + std::to_string(i), 0755));
    for (int i = 0; i < kFiles; ++i) bench::put_file(fs, name_of_file(i), "");
    (void)fill(fs, 3'000, kFiles);
    (void)fill(fs, 500, 2 * kFiles);
    EXPECT_TRUE(fs.sync());
    for (int i = 0; i < kFiles; ++i) {
      const auto changed = fs.chmod(name_of_file(i), 0600);
      ASSERT_TRUE(changed) << i << ": " << changed.error().value;
    }
    EXPECT_TRUE(fs.sync());
    EXPECT_FALSE(m.file_system->snapshots().stopped());
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// When a leaf of the block map is copied, the bit of the new block may be in another leaf that has
/// not been changed so far. To cause this, a file grows across the end of the first leaf, by one
/// block in each generation.
TEST(SnapfsSpace, TheBlockMapAccountsForItsOwnCopies) {
  Disk disk({.device_bytes = 3 << 20, .mkfs = {.block_bytes = 512, .id = 2}});
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    const Store& store = m.file_system->snapshots();
    const std::uint32_t behind_leaf = store.free_blocks_now() - 512 * 8;
    ASSERT_LT(behind_leaf, 5'000U);
    while (store.free_blocks_now() > behind_leaf + 60)
      EXPECT_TRUE(fs.append(*file, bench::bytes_of(std::string(512, 'f'))));
    for (int i = 0; i < 120 && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(i);
      if (i % 2 == 0) {
        EXPECT_TRUE(fs.append(*file, bench::bytes_of(std::string(512, 'f'))));
      } else {
        EXPECT_TRUE(fs.chmod("f", i % 4 == 1 ? 0600 : 0644));
      }
      EXPECT_TRUE(fs.sync());
      bench::expect_clean(*disk.store);
    }
    EXPECT_TRUE(fs.close(*file));
  });
  m.unmount();
}

TEST_P(FullDisk, EveryOperationSucceedsOrReportsNoSpace) {
  // HEADCRASH_SEEDS=n in the environment adds n seeds, for thorough tests after a change.
  const auto seeds = static_cast<std::uint32_t>(3 + number_from_environment("HEADCRASH_SEEDS", 0));
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Disk disk(
        {.device_bytes = 700 << 10, .mkfs = {.block_bytes = seed == 2 ? 1024U : 512U, .id = 2}});
    Machine m(*disk.store, 256 << 10);
    m.mount({.data = GetParam(), .dirty_blocks_max = 40});
    m.as_user([&] {
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(m.file_system->mkdir("d" + std::to_string(i), 0755));
      EXPECT_TRUE(m.file_system->mkdir("shared", 0755));
      (void)fill(*m.file_system, 3'000);
    });
    std::vector<std::unique_ptr<os::Account>> accounts;
    for (std::uint32_t user = 0; user < 4; ++user) {
      accounts.push_back(std::make_unique<os::Account>());
      m.executor().spawn(os::Executor::Kind::user, *accounts.back(), [&, user] {
        tree::bench::quarrel(*m.file_system, seed * 10 + user, 150);
        std::mt19937 random(seed * 100 + user);
        for (int i = 0; i < 100; ++i) {
          const int number = static_cast<int>(random() % 150);
          const auto file =
              m.file_system->open(name_of_file(number), {.create = random() % 3 == 0});
          if (file) {
            const auto written =
                m.file_system->pwrite(*file, random() % 9'000, bench::bytes_of("text"));
            EXPECT_TRUE(written || written.error().value == ENOSPC) << written.error().value;
            EXPECT_TRUE(m.file_system->close(*file));
          }
          if (random() % 2 == 0) {
            const auto removed =
                m.file_system->unlink(name_of_file(static_cast<int>(random() % 150)));
            EXPECT_TRUE(removed || removed.error().value == ENOENT) << removed.error().value;
          }
        }
      });
    }
    m.executor().run();
    EXPECT_FALSE(m.file_system->snapshots().stopped()) << seed;
    m.unmount();
    bench::expect_clean(*disk.store);
  }
}

}  // namespace
}  // namespace headcrash::snapfs
