// Tests that a snapshot's contents never change until the snapshot is dropped.
#include <random>

#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::expect_clean;
using bench::Fsync;
using bench::get_file;
using bench::Machine;
using bench::put_file;

const bench::DiskOptions kOneMiB = {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .id = 9}};

int error_of(const VfsResult<void>& result) {
  return result ? 0 : result.error().value;
}

/// Returns the contents of a file in a snapshot, as read from the image.
std::string kept_file(const model::SectorStore& store, const std::string& snapshot,
                      const std::string& path) {
  const auto newest = read_superblock(store);
  if (!newest) return newest.error().message();
  const auto table = read_snapshots(store, *newest);
  if (!table) return table.error().message();
  const auto entry = find_snapshot(*table, snapshot);
  if (!entry) return entry.error().message();
  const auto reader = ImageReader::open_snapshot(store, *newest, *entry);
  const auto inode = reader->lookup(path);
  if (!inode) return inode.error().message();
  std::string text(inode->size_bytes, '?');
  const auto got = reader->read(*inode, 0, std::as_writable_bytes(std::span(text)));
  return got ? text : got.error().message();
}

class SnapfsSnapshots : public testing::TestWithParam<DataMode> {};
INSTANTIATE_TEST_SUITE_P(Kept, SnapfsSnapshots,
                         testing::Values(DataMode::ordered, DataMode::copy_on_write));

TEST_P(SnapfsSnapshots, StayUnchanged) {
  Disk disk(kOneMiB);
  {
    Machine m(*disk.store);
    m.mount({.data = GetParam()});
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      put_file(fs, "a", std::string(20'000, 'a'));
      put_file(fs, "b", std::string(3'000, 'b'));
      EXPECT_TRUE(fs.make_snapshot("one"));
      put_file(fs, "a", std::string(20'000, 'A'));
      const auto b = fs.open("b", {});
      EXPECT_TRUE(fs.pwrite(*b, 1'000, bench::bytes_of("inside")));
      EXPECT_TRUE(fs.fsync(*b));
      EXPECT_TRUE(fs.close(*b));
      EXPECT_TRUE(fs.make_snapshot("two"));
      EXPECT_TRUE(fs.unlink("a"));
      EXPECT_TRUE(fs.sync());
      for (int i = 0; i < 20; ++i) put_file(fs, "new" + std::to_string(i), std::string(9'000, 'n'));
      EXPECT_TRUE(fs.sync());
    });
    expect_clean(*disk.store);
    m.unmount();
  }
  expect_clean(*disk.store);
  EXPECT_EQ(kept_file(*disk.store, "one", "a"), std::string(20'000, 'a'));
  EXPECT_EQ(kept_file(*disk.store, "one", "b"), std::string(3'000, 'b'));
  EXPECT_EQ(kept_file(*disk.store, "two", "a"), std::string(20'000, 'A'));
  EXPECT_EQ(kept_file(*disk.store, "two", "b").substr(1'000, 6), "inside");
  EXPECT_NE(kept_file(*disk.store, "two", "new1"), std::string(9'000, 'n'));
  Machine m(*disk.store);
  m.mount({.data = GetParam(), .snapshot = "one"});
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    EXPECT_EQ(get_file(fs, "a"), std::string(20'000, 'a'));
    EXPECT_EQ(fs.list("")->size(), 2U);
    EXPECT_EQ(error_of(fs.unlink("a")), EROFS);
    EXPECT_EQ(error_of(fs.mkdir("d", 0755)), EROFS);
    EXPECT_FALSE(fs.open("new", {.create = true}));
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(error_of(fs.make_snapshot("of-one")), EROFS);
  });
  m.unmount();
  expect_clean(*disk.store);
}

TEST_P(SnapfsSnapshots, AreIncludedInTheCheck) {
  Disk disk(kOneMiB);
  {
    Machine m(*disk.store);
    m.mount({.data = GetParam()});
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      put_file(fs, "a", "kept");
      EXPECT_TRUE(fs.make_snapshot("one"));
      EXPECT_TRUE(fs.unlink("a"));
      EXPECT_TRUE(fs.sync());
    });
    m.unmount();
  }
  const auto newest = read_superblock(*disk.store);
  ASSERT_TRUE(newest);
  const auto kept = read_snapshots(*disk.store, *newest);
  ASSERT_TRUE(kept);
  ASSERT_NE(kept->front().record_map, newest->record_map);
  const std::vector<std::byte> garbage(newest->block_bytes, std::byte{0x5a});
  ASSERT_TRUE(disk.store->write(newest->lba_of(kept->front().record_map), garbage));
  const auto report = check(*disk.store, 100);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  for (const Finding& finding : report->findings)
    EXPECT_EQ(finding.text.rfind("snapshot one: ", 0), 0U) << finding.text;
}

TEST_P(SnapfsSnapshots, FreeTheirBlocksWhenDropped) {
  Disk disk(kOneMiB);
  Machine m(*disk.store);
  m.mount({.data = GetParam()});
  std::uint32_t before = 0;
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    put_file(fs, "stays", std::string(30'000, 's'));
    EXPECT_TRUE(fs.sync());
    before = fs.snapshots().free_blocks_now();
    put_file(fs, "goes", std::string(60'000, 'g'));
    EXPECT_TRUE(fs.make_snapshot("one"));
    EXPECT_TRUE(fs.make_snapshot("two"));
    EXPECT_TRUE(fs.unlink("goes"));
    EXPECT_TRUE(fs.sync());
    EXPECT_LT(fs.snapshots().free_blocks_now() + 115, before);
    EXPECT_TRUE(fs.drop_snapshot("one"));
    EXPECT_LT(fs.snapshots().free_blocks_now() + 115, before) << "snapshot two still contains it";
  });
  expect_clean(*disk.store);
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    EXPECT_TRUE(fs.drop_snapshot("two"));
    EXPECT_GE(fs.snapshots().free_blocks_now() + 2, before) << "except for the table";
    EXPECT_EQ(get_file(fs, "stays"), std::string(30'000, 's'));
  });
  expect_clean(*disk.store);
  m.unmount();
  expect_clean(*disk.store);
  m.mount();
  m.as_user([&] { EXPECT_GE(m.file_system->snapshots().free_blocks_now() + 2, before); });
}

TEST(SnapfsSnapshotErrors, InvalidSnapshotRequestsFailWithTheRightError) {
  Disk disk(kOneMiB);
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      EXPECT_TRUE(fs.make_snapshot("one"));
      EXPECT_EQ(error_of(fs.make_snapshot("one")), EEXIST);
      EXPECT_EQ(error_of(fs.drop_snapshot("two")), ENOENT);
      for (const std::string name : {"", "a/b", "a b", "a,b", "12345678901234567890123456789012"})
        EXPECT_EQ(error_of(fs.make_snapshot(name)), EINVAL) << name;
      for (std::size_t i = 1; i < snapshots_max(512); ++i)
        EXPECT_TRUE(fs.make_snapshot("more" + std::to_string(i)));
      EXPECT_EQ(error_of(fs.make_snapshot("too-many")), ENOSPC);
      EXPECT_EQ(fs.kept_snapshots().size(), snapshots_max(512));
      EXPECT_EQ(fs.kept_snapshots().front().name, "one");
    });
    m.unmount();
  }
  Machine other(*disk.store);
  const auto gone = other.try_mount({.snapshot = "gone"});
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message().find("no snapshot 'gone'"), std::string::npos)
      << gone.error().message();
  EXPECT_NE(gone.error().message().find("one, more1"), std::string::npos) << gone.error().message();
  for (const MountOptions& options :
       {MountOptions{.copy_on_write = false}, MountOptions{.data = DataMode::unordered}}) {
    Machine m(*disk.store);
    m.mount(options);
    m.as_user([&] { EXPECT_EQ(error_of(m.file_system->make_snapshot("none")), ENOTSUP); });
  }
}

/// If snapshots fill the disk, the file system rejects changes but can be read. Once a snapshot has
/// been dropped, changes succeed again.
TEST(SnapfsSnapshotErrors, AFullDiskRecoversWhenASnapshotIsDropped) {
  Disk disk({.device_bytes = 400 << 10, .mkfs = {.block_bytes = 512, .id = 9}});
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    for (int i = 0; i < 10; ++i) put_file(fs, "f" + std::to_string(i), std::string(9'000, 'f'));
    EXPECT_TRUE(fs.make_snapshot("one"));
    int error = 0;
    for (int round = 0; round < 60 && error == 0; ++round)
      for (int i = 0; i < 10 && error == 0; ++i) {
        const auto file = fs.open("f" + std::to_string(i), {});
        if (!file) {
          error = file.error().value;
          break;
        }
        error = error_of(fs.pwrite(*file, 0, bench::bytes_of(std::string(9'000, 'g'))));
        EXPECT_TRUE(fs.close(*file));
        const std::string more = "g" + std::to_string(round * 10 + i);
        if (const auto made = fs.open(more, {.create = true})) {
          if (error == 0)
            error = error_of(fs.pwrite(*made, 0, bench::bytes_of(std::string(2'000, 'm'))));
          EXPECT_TRUE(fs.close(*made));
        } else {
          error = made.error().value;
        }
      }
    EXPECT_EQ(error, ENOSPC);
    const auto last = fs.open("g0", {});
    error = 0;
    for (std::uint64_t at = 0; error == 0 && at < 400; ++at)
      error = error_of(fs.pwrite(*last, at * 512, bench::bytes_of("a block")));
    EXPECT_EQ(error, ENOSPC);
    EXPECT_TRUE(fs.close(*last));
    EXPECT_EQ(error_of(fs.make_snapshot("two")), ENOSPC);
    // A removal needs blocks for copies, but frees no block that the snapshot contains. In the end,
    // even a removal fails with ENOSPC.
    for (int i = 0; i < 10; ++i) {
      error = error_of(fs.unlink("f" + std::to_string(i)));
      EXPECT_TRUE(error == 0 || error == ENOSPC) << error;
      EXPECT_TRUE(fs.sync());
    }
    EXPECT_TRUE(fs.open("g0", {}));
    EXPECT_TRUE(fs.drop_snapshot("one"));
    put_file(fs, "last", std::string(9'000, 'l'), Fsync::yes);
  });
  expect_clean(*disk.store);
  m.unmount();
  expect_clean(*disk.store);
}

/// At every power cut, each existing snapshot must have the contents that it had when it was
/// created.
class SnapfsSnapshotCuts : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Kept, SnapfsSnapshotCuts, testing::Values(0U, 16U << 10));

TEST_P(SnapfsSnapshotCuts, SnapshotsAreUnchangedAfterACutAtAnyWrite) {
  Disk disk(
      {.device_bytes = 1 << 20, .mkfs = {.block_bytes = 512, .log_bytes = GetParam(), .id = 9}});
  bench::WriteReplay replay(disk);
  struct Kept {
    std::string name, text;
    std::size_t from = 0, to = SIZE_MAX;
  };
  std::vector<Kept> kept;
  {
    Machine m(disk.log, 128 << 10);
    m.mount({.dirty_blocks_max = 20});
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      std::mt19937 random(3);
      for (int i = 0; i < 120; ++i) {
        const std::string text(2'000 + random() % 3'000, static_cast<char>('a' + i % 26));
        put_file(fs, "same", text, i % 3 == 0 ? Fsync::yes : Fsync::no);
        put_file(fs, "f" + std::to_string(random() % 6), text);
        if (i % 4 == 3) (void)fs.unlink("f" + std::to_string(random() % 6));
        if (i % 12 == 5) {
          const std::string name = "s" + std::to_string(i);
          const std::string now = get_file(fs, "same");
          if (fs.make_snapshot(name)) kept.push_back({name, now, disk.log.log.size()});
        }
        if (i % 30 == 29) {
          Kept& oldest = *std::ranges::find(kept, SIZE_MAX, &Kept::to);
          oldest.to = disk.log.log.size();
          EXPECT_TRUE(fs.drop_snapshot(oldest.name));
        }
      }
    });
    m.unmount();
  }
  EXPECT_GE(kept.size(), 8U);
  replay.each([&](const model::SectorStore& image, std::size_t i) {
    expect_clean(image, "after write " + std::to_string(i) + ": ");
    for (const Kept& one : kept)
      if (i + 1 >= one.from && i + 1 <= one.to) {
        EXPECT_TRUE(kept_file(image, one.name, "same") == one.text)
            << one.name << " after write " << i;
      }
  });
}

}  // namespace
}  // namespace headcrash::snapfs
