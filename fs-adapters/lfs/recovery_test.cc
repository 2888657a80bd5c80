// Tests recovery: how the end of the log is found, which checkpoint is used, and what happens to
// files without names.
#include "fs-adapters/lfs/recover_image.h"
#include "fs-adapters/lfs/testing/mounted.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

/// Runs `body` on a mounted file system and then cuts the power.
void until_the_cut(model::SectorStore& store, const std::function<void(Machine&)>& body,
                   const MountOptions& options = {}) {
  Machine m(store);
  m.mount(options);
  m.as_user([&] { body(m); });
}

std::string text_of(model::SectorStore& store, const std::string& path,
                    const MountOptions& options = {}) {
  Machine m(store);
  m.mount(options);
  std::string text;
  m.as_user([&] { text = bench::get_file(*m.file_system, path); });
  m.unmount();
  bench::expect_clean(store);
  return text;
}

TEST(LfsRecovery, SyncedDataIsRolledForward) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    EXPECT_TRUE(m.file_system->mkdir("a", 0755));
    EXPECT_TRUE(m.file_system->mkdir("a/b", 0700));
    bench::put_file(*m.file_system, "a/b/f", "kept", bench::Fsync::yes);
    bench::put_file(*m.file_system, "a/b/g", "lost");
  });
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_EQ(bench::get_file(*m.file_system, "a/b/f"), "kept");
    EXPECT_EQ(m.file_system->stat("a/b")->mode, 0700U) << "a directory that was never written";
    EXPECT_FALSE(m.file_system->stat("a/b/g"));
    EXPECT_GT(m.file_system->log().counters().inodes_made_again, 1U);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsRecovery, WithoutRollForwardRestoresTheCheckpoint) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    bench::put_file(*m.file_system, "f", "old");
    EXPECT_TRUE(m.file_system->sync());
    bench::put_file(*m.file_system, "f", "new", bench::Fsync::yes);
    bench::put_file(*m.file_system, "g", "new", bench::Fsync::yes);
  });
  EXPECT_EQ(text_of(*disk.store, "f", {.roll_forward = false}), "old");
  EXPECT_EQ(text_of(*disk.store, "g"), "(error " + std::to_string(ENOENT) + ")");
}

/// A mount without roll-forward discarded a region. Later, another mount writes a log that happens
/// to end just before this region. The region has the sequence number that is expected there, but
/// must be ignored.
TEST(LfsRecovery, DoesNotFollowTheLogOfAnEarlierMount) {
  Disk disk;
  const auto overwrite = [](Machine& m, char letter) {
    bench::put_file(*m.file_system, "x", std::string(2560, letter), bench::Fsync::yes);
  };
  until_the_cut(*disk.store, [&](Machine& m) {
    overwrite(m, '0');
    EXPECT_TRUE(m.file_system->sync());
    for (const char letter : {'1', '2', '3'}) overwrite(m, letter);
  });
  until_the_cut(*disk.store, [](Machine&) {}, {.roll_forward = false});
  EXPECT_EQ(text_of(*disk.store, "x"), std::string(2560, '0'));
  until_the_cut(*disk.store, [&](Machine& m) { overwrite(m, '4'); });
  EXPECT_EQ(text_of(*disk.store, "x"), std::string(2560, '4'));
}

/// A later mount with roll-forward must not recover the data that an earlier mount discarded.
TEST(LfsRecovery, RollForwardDoesNotRecoverDataThatAnEarlierMountDiscarded) {
  Disk disk;
  until_the_cut(*disk.store,
                [](Machine& m) {
                  bench::put_file(*m.file_system, "f", "old");
                  EXPECT_TRUE(m.file_system->sync());
                  bench::put_file(*m.file_system, "f", "new", bench::Fsync::yes);
                },
                {.roll_forward = false});
  EXPECT_EQ(text_of(*disk.store, "f"), "old");
}

/// The power is cut between a pass of the cleaner and the next checkpoint. Recovery must
/// distinguish inodes that the cleaner moved from inodes that were changed.
TEST(LfsRecovery, CountsInodesMovedByTheCleaner) {
  Disk disk;
  os::LoggedStore log(*disk.store);
  std::vector<std::byte> before(disk.store->sectors() * kSectorBytes);
  until_the_cut(log, [&](Machine& m) {
    for (int i = 0; i < 40; ++i)
      bench::put_file(*m.file_system, "f" + std::to_string(i), std::string(8'000, 'f'));
    for (int i = 0; i < 40; i += 2) EXPECT_TRUE(m.file_system->unlink("f" + std::to_string(i)));
    EXPECT_TRUE(m.file_system->sync());
    bench::put_file(*m.file_system, "f1", "changed", bench::Fsync::yes);
    EXPECT_TRUE(disk.store->read(0, before));
    log.keep = true;
    EXPECT_TRUE(m.file_system->log().clean());
    EXPECT_GT(m.file_system->log().counters().blocks_moved, 50U);
    log.keep = false;
  });
  ASSERT_GT(log.log.size(), 1U);
  EXPECT_TRUE(disk.store->write(0, before));
  const auto untouched = recover_image(*disk.store);
  EXPECT_EQ(untouched->inodes, 1U);
  EXPECT_EQ(untouched->moved, 0U);
  std::uint64_t most = 0;
  for (std::size_t writes = 1; writes < log.log.size(); ++writes) {
    EXPECT_TRUE(disk.store->write(0, before));
    for (std::size_t i = 0; i < writes; ++i)
      EXPECT_TRUE(disk.store->write(log.log[i].lba, log.log[i].bytes));
    most = std::max(most, recover_image(*disk.store)->moved);
    bench::expect_clean(*disk.store);
  }
  EXPECT_GT(most, 5U);
}

TEST(LfsRecovery, ATornCheckpointLeavesTheOtherOne) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    bench::put_file(*m.file_system, "f", "there");
    EXPECT_TRUE(m.file_system->sync());
    EXPECT_TRUE(m.file_system->sync());
  });
  const auto reader = ImageReader::open(*disk.store);
  ASSERT_TRUE(reader);
  const Superblock s = reader->superblock();
  const SectorAddress newest = s.checkpoints[(reader->checkpoint().sequence + 1) % 2];
  std::vector<std::byte> sector(kSectorBytes);
  EXPECT_TRUE(disk.store->write(newest + s.checkpoint_sectors - 1, sector));
  EXPECT_EQ(text_of(*disk.store, "f"), "there");
  for (const SectorAddress at : s.checkpoints) EXPECT_TRUE(disk.store->write(at, sector));
  Machine m(*disk.store);
  EXPECT_FALSE(m.try_mount()) << "neither is valid";
}

TEST(LfsRecovery, RemovesAFileThatWasOpenButUnlinked) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    Vfs& fs = *m.file_system;
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of(std::string(50'000, 'u'))));
    EXPECT_TRUE(fs.fsync(*file));
    EXPECT_TRUE(fs.unlink("f"));
    EXPECT_TRUE(fs.sync());  // the checkpoint now contains the inode, which has no name
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("more")));
    EXPECT_TRUE(fs.fsync(*file));
    std::string text(4, '?');
    EXPECT_TRUE(fs.pread(*file, 0, std::as_writable_bytes(std::span(text.data(), text.size()))));
    EXPECT_EQ(text, "more");
  });
  bench::expect_clean(*disk.store, "cut: ");
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_EQ(m.file_system->space()->total_inodes - m.file_system->space()->free_inodes, 1U);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// An inode number is reused. The log records of the old file must not be applied to the new file.
TEST(LfsRecovery, DoesNotApplyRecordsOfAnOldFileToANewFileWithItsNumber) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "one", "1111", bench::Fsync::yes);
    const auto inode = fs.stat("one")->inode;
    EXPECT_TRUE(fs.unlink("one"));
    bench::put_file(fs, "two", "2222");
    EXPECT_EQ(fs.stat("two")->inode, inode);
    EXPECT_TRUE(fs.link("two", "three"));
    bench::put_file(fs, "other", "o", bench::Fsync::yes);
  });
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_FALSE(m.file_system->stat("one"));
    EXPECT_EQ(bench::get_file(*m.file_system, "two"), "")
        << "never written, and not data of another file";
    EXPECT_EQ(m.file_system->stat("three")->links, 2U);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// The log has records of two files that used the same inode number, and after them the inode
/// itself, which has no name. Recovery must not recreate a file from these records.
TEST(LfsRecovery, DoesNotRecreateAFileFromAnUnlinkedInode) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "one", "1111");
    const auto inode = fs.stat("one")->inode;
    EXPECT_TRUE(fs.sync());
    EXPECT_TRUE(fs.unlink("one"));
    const auto file = fs.open("two", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_EQ(fs.stat("two")->inode, inode);
    EXPECT_TRUE(fs.fsync(*file));
    EXPECT_TRUE(fs.unlink("two"));
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("2222")));
    EXPECT_TRUE(fs.fsync(*file));
  });
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    EXPECT_EQ(m.file_system->log().counters().inodes_made_again, 0U);
    EXPECT_EQ(m.file_system->space()->total_inodes - m.file_system->space()->free_inodes, 1U);
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsRecovery, SurvivesAPowerCutAtAnyWrite) {
  Disk disk;
  until_the_cut(*disk.store, [](Machine& m) {
    Vfs& fs = *m.file_system;
    for (int i = 0; i < 20; ++i)
      bench::put_file(fs, "f" + std::to_string(i), std::string(900, 'x'),
                      i % 5 == 4 ? bench::Fsync::yes : bench::Fsync::no);
    EXPECT_TRUE(fs.rename("f4", "f5", RenameMode::replace));
    bench::put_file(fs, "last", "l", bench::Fsync::yes);
  });
  // Cuts the power during recovery, after each of its writes.
  bench::LoggedStore log(*disk.store);
  std::vector<std::byte> before(disk.store->sectors() * kSectorBytes);
  EXPECT_TRUE(disk.store->read(0, before));
  log.keep = true;
  {
    Machine m(log);
    m.mount();
  }
  ASSERT_GT(log.log.size(), 2U);
  for (std::size_t cut = 0; cut < log.log.size(); ++cut) {
    EXPECT_TRUE(disk.store->write(0, before));
    for (std::size_t i = 0; i < cut; ++i)
      EXPECT_TRUE(disk.store->write(log.log[i].lba, log.log[i].bytes));
    EXPECT_EQ(text_of(*disk.store, "f5"), std::string(900, 'x')) << cut;
    EXPECT_EQ(text_of(*disk.store, "last"), "l") << cut;
    EXPECT_EQ(text_of(*disk.store, "f4"), "(error " + std::to_string(ENOENT) + ")") << cut;
  }
}

}  // namespace
}  // namespace headcrash::lfs
