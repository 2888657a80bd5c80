// Tests each operation of the mounted file system, the state after an unmount, and the times of
// commits.
#include <algorithm>
#include <set>

#include "fs-adapters/snapfs/testing/mounted.h"

namespace headcrash::snapfs {
namespace {

using bench::Disk;
using bench::Machine;

TEST(SnapfsFileSystem, MountsAndUnmountsWithoutAWrite) {
  Disk disk;
  bench::expect_clean(*disk.store, "made ");
  Machine m(disk.log);
  m.mount();
  m.settle(30);
  m.unmount();
  EXPECT_EQ(disk.log.writes, 0U);
  bench::expect_clean(*disk.store);
}

TEST(SnapfsFileSystem, FilesSurviveAnUnmount) {
  Disk disk;
  const std::string small = "hello";
  std::string large(300'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>('a' + i % 26);
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      EXPECT_TRUE(fs.mkdir("d", 0755));
      bench::put_file(fs, "d/small", small);
      bench::put_file(fs, "large", large);
      EXPECT_TRUE(fs.symlink("d/small", "path"));
      EXPECT_EQ(bench::get_file(fs, "path"), small);
    });
    m.unmount();
  }
  bench::expect_clean(*disk.store);
  const auto reader = ImageReader::open(*disk.store);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->superblock().clean);
  EXPECT_EQ(*reader->readlink(*reader->lookup("path")), "d/small");
  std::string read(large.size(), '?');
  EXPECT_EQ(*reader->read(*reader->lookup("large"), 0, std::as_writable_bytes(std::span(read))),
            large.size());
  EXPECT_TRUE(read == large);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_EQ(bench::get_file(fs, "d/small"), small);
    EXPECT_TRUE(bench::get_file(fs, "large") == large);
    EXPECT_EQ(fs.readlink("path").value_or("?"), "d/small");
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// Mounts a file system for one test, and checks at the end that it is sound.
class SnapfsOperations : public testing::TestWithParam<MountOptions> {
 protected:
  SnapfsOperations() : machine_(disk_.log) { machine_.mount(GetParam()); }
  void run(const std::function<void(Vfs&)>& body) {
    machine_.as_user([&] { body(*machine_.file_system); });
    machine_.unmount();
    bench::expect_clean(*disk_.store);
  }
  Store& store() { return machine_.file_system->snapshots(); }
  Disk disk_;
  Machine machine_;
};

std::string name_of_mode(const testing::TestParamInfo<MountOptions>& mode) {
  if (!mode.param.copy_on_write) return "in_place";
  if (mode.param.data == DataMode::ordered) return "ordered";
  return mode.param.data == DataMode::unordered ? "unordered" : "data_copied";
}

INSTANTIATE_TEST_SUITE_P(Snapfs, SnapfsOperations,
                         testing::Values(MountOptions{}, MountOptions{.data = DataMode::unordered},
                                         MountOptions{.data = DataMode::copy_on_write},
                                         MountOptions{.copy_on_write = false}),
                         name_of_mode);

TEST_P(SnapfsOperations, SupportsFileOperations) {
  constexpr std::uint64_t kHoleBytesMost = 10'000;
  run([](Vfs& fs) { tree::bench::expect_file_operations(fs, kHoleBytesMost); });
}

TEST_P(SnapfsOperations, SupportsNameAndAttributeOperations) {
  run(tree::bench::expect_name_operations);
}

TEST_P(SnapfsOperations, CommitsTenSecondsAfterTheFirstChange) {
  run([&](Vfs& fs) {
    bench::put_file(fs, "f", "text");
    const auto now = [&] { return machine_.executor().now(); };
    machine_.executor().sleep_until(now() + 12 * model::kSecondNs);
    EXPECT_EQ(store().counters().commits, 1U);
    EXPECT_TRUE(fs.chmod("f", 0600));
    machine_.executor().sleep_until(now() + 7 * model::kSecondNs);
    EXPECT_EQ(store().counters().commits, 1U);
    machine_.executor().sleep_until(now() + 5 * model::kSecondNs);
    EXPECT_EQ(store().counters().commits, 2U);
    const auto writes = disk_.log.writes;
    machine_.executor().sleep_until(now() + 100 * model::kSecondNs);
    EXPECT_EQ(store().counters().commits, 2U) << "nothing has changed";
    if (GetParam().data != DataMode::unordered) {
      EXPECT_EQ(disk_.log.writes, writes);
    }
  });
}

/// The generation's commit becomes due while its first operation is waiting for the disk, before
/// that operation has changed anything.
TEST(SnapfsFileSystem, CommitsAChangeEvenIfACommitWasDueBeforeIt) {
  Disk disk;
  for (os::TimeNs before = 0; before < 5 * model::kMillisecondNs; before += 250'000) {
    SCOPED_TRACE(before);
    Machine m(*disk.store);
    // A commit is due at each tick of the syncer, once per second.
    m.mount({.commit_interval_ns = 1});
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      Store& store = m.file_system->snapshots();
      const auto file = fs.open("f", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(fs.truncate(*file, 2'000'000));
      EXPECT_TRUE(fs.pwrite(*file, 1'500'000, bench::bytes_of(std::string(3'000, 'f'))));
      EXPECT_TRUE(fs.sync());
      const os::TimeNs tick = (m.executor().now() / model::kSecondNs + 3) * model::kSecondNs;
      m.executor().sleep_until(tick - before);
      store.drop_clean();
      EXPECT_TRUE(fs.pwrite(*file, 1'500'100, bench::bytes_of("changed")));
      m.executor().sleep_until(tick + 5 * model::kSecondNs);
      EXPECT_TRUE(store.open_generation().empty());
      EXPECT_TRUE(fs.close(*file));
    });
    m.unmount();
  }
}

TEST_P(SnapfsOperations, FsyncCommitsAllChanges) {
  run([&](Vfs& fs) {
    EXPECT_TRUE(fs.mkdir("d", 0755));
    bench::put_file(fs, "other", "o");
    bench::put_file(fs, "d/f", "text", bench::Fsync::yes);
    EXPECT_EQ(store().counters().commits, 1U);
    const auto reader = ImageReader::open(*disk_.store);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->lookup("other"));
    EXPECT_TRUE(reader->lookup("d/f"));
    EXPECT_FALSE(reader->superblock().clean);
    const auto file = fs.open("d/f", {.sync = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.fsync(*file));
    EXPECT_EQ(store().counters().commits, 1U) << "nothing has changed";
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("T")));
    EXPECT_EQ(store().counters().commits, 2U);
    EXPECT_TRUE(fs.close(*file));
  });
}

TEST_P(SnapfsOperations, TemporaryFilesBetweenCommitsAreNotWritten) {
  run([&](Vfs& fs) {
    EXPECT_TRUE(fs.mkdir("d", 0755));
    EXPECT_TRUE(fs.sync());
    const auto writes = disk_.log.writes;
    const auto free = store().free_blocks_now();
    const auto name = [](int i) { return "d/f" + std::to_string(i); };
    for (int i = 0; i < 20; ++i) bench::put_file(fs, name(i), std::string(20'000, 'x'));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(fs.unlink(name(i)));
    EXPECT_TRUE(fs.sync());
    EXPECT_LT(disk_.log.writes - writes, 20U);
    EXPECT_EQ(store().free_blocks_now(), free);
    if (GetParam().copy_on_write) {
      EXPECT_GT(store().counters().never_written, 300U);
    }
    std::vector<std::byte> sector(kSectorBytes);
    std::size_t written = 0;
    for (std::uint64_t lba = 0; lba < disk_.store->sectors(); ++lba) {
      EXPECT_TRUE(disk_.store->read(lba, sector));
      if (std::ranges::count(sector, std::byte{'x'}) > 100) ++written;
    }
    EXPECT_EQ(written, 0U);
  });
}

TEST_P(SnapfsOperations, ManyDirtyBlocksCauseACommit) {
  run([&](Vfs& fs) {
    for (int i = 0; i < 60; ++i)
      bench::put_file(fs, "f" + std::to_string(i), std::string(30'000, 'x'));
    machine_.executor().sleep_until(machine_.executor().now() + model::kSecondNs);
    if (GetParam().data != DataMode::unordered) {
      EXPECT_GT(store().counters().commits, 0U);
    }
  });
}

/// A client such as NFS identifies inodes by number and generation. A client that still has this
/// pair must not reach a later file with the same number.
TEST(SnapfsFileSystem, AReusedInodeNumberHasANewGeneration) {
  Disk disk;
  std::set<std::uint32_t> generations;
  std::set<InodeNumber> numbers;
  for (int i = 0; i < 4; ++i) {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      bench::put_file(fs, "f", "text");
      EXPECT_TRUE(fs.sync());
      const Inode inode = *ImageReader::open(*disk.store)->lookup("f");
      generations.insert(inode.generation);
      numbers.insert(inode.number);
      EXPECT_TRUE(fs.unlink("f"));
      EXPECT_TRUE(fs.sync());
    });
    if (i % 2 == 0) m.unmount();
  }
  EXPECT_EQ(numbers.size(), 1U);
  EXPECT_EQ(generations.size(), 4U);
}

TEST(SnapfsFileSystem, RemovesAnOpenButUnlinkedFileAfterACrash) {
  Disk disk;
  std::uint32_t free = 0;
  {
    Machine m(*disk.store);
    m.mount();
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      EXPECT_TRUE(fs.sync());
      free = m.file_system->snapshots().free_blocks_now();
      const auto file = fs.open("f", {.create = true});
      ASSERT_TRUE(file);
      EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(50'000, 'x'))));
      EXPECT_TRUE(fs.unlink("f"));
      EXPECT_TRUE(fs.fsync(*file));
    });
  }
  bench::expect_clean(*disk.store);
  EXPECT_EQ(check(*disk.store)->superblock.unlinked, 1U);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_TRUE(m.file_system->sync());
    EXPECT_GE(m.file_system->snapshots().free_blocks_now() + 1, free);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
  EXPECT_EQ(check(*disk.store)->superblock.unlinked, 0U);
}

/// If metadata is changed in place, a crash may leave it partly changed, so the superblock may say
/// "clean" only after an unmount. With copy-on-write, the generation that is marked clean remains
/// unchanged on the disk.
TEST(SnapfsFileSystem, IsNotMarkedCleanAfterChangingMetadataInPlace) {
  for (const bool copy_on_write : {false, true}) {
    SCOPED_TRACE(copy_on_write);
    Disk disk;
    Machine m(disk.log);
    m.mount({.copy_on_write = copy_on_write});
    const auto says_clean = [&] { return check(*disk.store)->superblock.clean; };
    m.as_user([&] {
      Vfs& fs = *m.file_system;
      EXPECT_TRUE(fs.stat(""));
      EXPECT_EQ(disk.log.writes, 0U);
      EXPECT_TRUE(says_clean());
      EXPECT_TRUE(fs.mkdir("d", 0755));
      EXPECT_EQ(says_clean(), copy_on_write);
    });
    m.unmount();
    EXPECT_TRUE(says_clean());
    bench::expect_clean(*disk.store);
  }
}

}  // namespace
}  // namespace headcrash::snapfs
