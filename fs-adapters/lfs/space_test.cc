// Tests a full or nearly full disk: ENOSPC is reported before the cleaner runs out of space,
// deleting files frees space, and the cleaner keeps up even if most of the disk is live.
#include <map>
#include <random>

#include "fs-adapters/lfs/testing/mounted.h"
#include "fs-adapters/substrate/tree/testing/turnover.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

std::string name_of_file(int i) {
  return "f" + std::to_string(i);
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
    EXPECT_TRUE(fs.unlink(name_of_file(i)));
    return i;
  }
}

TEST(LfsSpace, WritesToAFullDiskFailUntilFilesAreDeleted) {
  Disk disk({.device_bytes = 4 << 20});
  Machine m(*disk.store, 512 << 10);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    for (int round = 0; round < 4; ++round) {
      const int files = fill(fs, 20'000);
      EXPECT_GT(files, 100) << "round " << round;
      EXPECT_FALSE(m.file_system->log().stopped());
      for (int i = 0; i < files; ++i) {
        EXPECT_EQ(fs.stat(name_of_file(i))->size_bytes, 20'000U);
      }
      for (int i = round % 2; i < files; i += 2) EXPECT_TRUE(fs.unlink(name_of_file(i)));
      EXPECT_TRUE(fs.sync());
      EXPECT_GT(fs.space()->free_bytes, 1'000'000U);
      // Succeeds only if the new files use the space of the removed files.
      EXPECT_GT(fill(fs, 15'000, 1000), 1050) << "round " << round;
      for (int i = 1000; fs.unlink(name_of_file(i)); ++i) {
      }
      for (int i = 0; i < files; ++i) (void)fs.unlink(name_of_file(i));
      EXPECT_TRUE(fs.sync());
    }
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// On a full disk, little log space is left. Requests that fail must not use up this space.
TEST(LfsSpace, FailedRequestsUseNoLogSpace) {
  Disk disk(
      {.device_bytes = 2 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 16 << 10, .id = 2}});
  Machine m(*disk.store, 512 << 10);
  m.mount({.clean_start = 60, .clean_stop = 80});
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const int files = fill(fs, 9'000);
    EXPECT_TRUE(fs.sync());
    const std::uint64_t regions = m.file_system->log().counters().regions;
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(fs.sync());
    EXPECT_LE(m.file_system->log().counters().regions, regions + 20) << "except by the cleaner";
    for (int i = 0; i < 300; ++i) {
      const auto file = fs.open("more", {.create = true});
      if (!file) continue;
      EXPECT_FALSE(fs.pwrite(*file, 0, bench::bytes_of(std::string(100'000, 'm')))) << i;
      EXPECT_TRUE(fs.close(*file));
      EXPECT_TRUE(fs.unlink("more"));
    }
    EXPECT_FALSE(m.file_system->log().stopped());
    for (int i = 0; i < files; ++i) EXPECT_TRUE(fs.unlink(name_of_file(i)));
    EXPECT_GE(fill(fs, 9'000), files - 2);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// Only the segment at the end of the log is dirty, and no changes are pending, so a pass has
/// nothing to do.
TEST(LfsSpace, ACleaningPassWithNothingToDoWritesNothing) {
  Disk disk(
      {.device_bytes = 2 << 20, .mkfs = {.block_bytes = 512, .segment_bytes = 64 << 10, .id = 2}});
  disk.log.keep = true;
  Machine m(disk.log, 512 << 10);
  m.mount({.background_cleaner = false});
  m.as_user([&] {
    bench::put_file(*m.file_system, "f", "a file");
    EXPECT_TRUE(m.file_system->sync());
    Store& log = m.file_system->log();
    const std::size_t writes = disk.log.log.size();
    const std::uint64_t regions = log.counters().regions;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(log.clean().value_or(1), 0);
    EXPECT_EQ(log.counters().regions, regions) << "regions of the log";
    EXPECT_EQ(disk.log.log.size(), writes) << "writes of the disk";
  });
  m.unmount();
}

/// Live data fills 90 % of the space for users. Each test overwrites random parts of this data many
/// times.
class NearlyFull : public testing::TestWithParam<Selection> {};
INSTANTIATE_TEST_SUITE_P(Lfs, NearlyFull,
                         testing::Values(Selection::greedy, Selection::cost_benefit,
                                         Selection::min_declining_cost));

TEST_P(NearlyFull, TheCleanerKeepsUpOnANearlyFullDisk) {
  Disk disk(
      {.device_bytes = 6 << 20, .mkfs = {.block_bytes = 4096, .segment_bytes = 64 << 10, .id = 2}});
  Machine m(*disk.store, 1 << 20);
  m.mount({.selection = GetParam()});
  std::map<int, std::string> reference;
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const std::uint64_t target = fs.space()->total_bytes * 9 / 10;
    int files = 0;
    while (fs.space()->total_bytes - fs.space()->free_bytes < target) {
      reference[files] = std::string(12'000, static_cast<char>('a' + files % 26));
      bench::put_file(fs, name_of_file(files), reference[files]);
      ++files;
    }
    std::mt19937 random(4);
    for (int i = 0; i < 1500 && !testing::Test::HasFailure(); ++i) {
      const int file = static_cast<int>(random() % static_cast<std::uint32_t>(files));
      const std::size_t at = random() % 2 == 0 ? 0 : 4096;
      reference[file].replace(at, 4096, 4096, static_cast<char>('A' + i % 26));
      const auto handle = fs.open(name_of_file(file), {});
      ASSERT_TRUE(handle);
      const auto written = fs.pwrite(
          *handle, at, bench::bytes_of(std::string_view(reference[file]).substr(at, 4096)));
      EXPECT_TRUE(written) << "write " << i << ": " << written.error().value;
      EXPECT_TRUE(fs.close(*handle));
      if (i % 50 == 0) m.executor().sleep_until(m.executor().now() + 10 * model::kSecondNs);
    }
    for (const auto& [file, text] : reference)
      EXPECT_TRUE(bench::get_file(fs, name_of_file(file)) == text) << file;
    EXPECT_GT(m.file_system->log().counters().segments_cleaned, 20U);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
  m.mount();
  m.as_user([&] {
    for (const auto& [file, text] : reference)
      EXPECT_TRUE(bench::get_file(*m.file_system, name_of_file(file)) == text) << file;
  });
  m.unmount();
}

/// The disk is filled almost to its reported capacity. No operation may fail.
struct Use {
  const char* name;
  std::uint64_t device_bytes, cache_bytes;
  MkfsOptions mkfs;
  tree::bench::TurnoverOptions how;
};
void PrintTo(const Use& use, std::ostream* out) {
  *out << use.name << ", " << use.how.full << " full, seed " << use.how.seed;
}

constexpr std::uint64_t kMiB = 1 << 20;

class InUse : public testing::TestWithParam<Use> {};
INSTANTIATE_TEST_SUITE_P(
    Lfs, InUse,
    testing::Values(Use{"usual",
                        16 * kMiB,
                        2 * kMiB,
                        {.block_bytes = 1024, .segment_bytes = 64 << 10},
                        {.full = .97, .largest_bytes = 32 << 10, .together = 8}},
                    Use{"many inodes",
                        8 * kMiB,
                        kMiB,
                        {.segment_bytes = 64 << 10, .bytes_per_inode = 512},
                        {.full = .97, .turnovers = 1, .largest_bytes = 1024, .together = 8}}));

TEST_P(InUse, ADiskInUseAcceptsAsMuchDataAsItReportsFree) {
  const Use& use = GetParam();
  MkfsOptions mkfs = use.mkfs;
  mkfs.id = 5;
  Disk disk({.device_bytes = use.device_bytes, .mkfs = mkfs});
  Machine m(*disk.store, use.cache_bytes);
  m.mount();
  m.as_user([&] { EXPECT_EQ(tree::bench::Turnover(*m.file_system, use.how).run(), ""); });
  m.unmount();
  bench::expect_clean(*disk.store);
}

}  // namespace
}  // namespace headcrash::lfs
