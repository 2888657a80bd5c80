// Tests I/O errors under every scheme: which errors are reported, which data survives, and which
// writes must not occur afterwards (volume.h). In harness/explorer/in_process/io_errors_test.cc,
// seeds select the errors and the oracle judges the results.
#include <cerrno>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;
using os::DiskFault;

bench::MountedOptions only_who_asks_writes() {
  return {.mkfs = {.block_bytes = 4096,
                   .fragment_bytes = 1024,
                   .bytes_per_inode = 4096,
                   .journal_bytes = 1 << 20},
          .syncer = {.policy = os::SyncerOptions::Policy::none}};
}

os::SectorRange inode_table(const Mounted& m) {
  const Geometry& geometry = m.file_system->volume().geometry;
  return {geometry.lba_of(geometry.inode_table(0)), geometry.lba_of(geometry.data_start(0))};
}

/// Returns the sectors to which a cached block of a file will be written.
os::SectorRange place_of(Mounted& m, const std::string& path, std::int64_t block = 0) {
  const auto status = m.file_system->stat(path);
  const auto buffer =
      m.cache.cached(Volume::block_of(static_cast<InodeNumber>(status->inode), block));
  EXPECT_TRUE(buffer) << path;
  return {buffer.lba(), buffer.lba() + buffer.bytes().size() / kSectorBytes};
}

template <typename T>
int error_of(const VfsResult<T>& result) {
  return result ? 0 : result.error().value;
}

std::string text_of(const model::SectorStore& image, const std::string& path) {
  const auto reader = ImageReader::open(image);
  if (!reader) return reader.error().message();
  const auto inode = reader->lookup(path);
  if (!inode) return "(not there)";
  std::string text(100, '?');
  const auto got =
      reader->read(*inode, 0, std::as_writable_bytes(std::span(text.data(), text.size())));
  text.resize(got.value_or(0));
  return text;
}

/// Copies the disk, in the state that a power cut at this moment would leave behind, and repairs
/// the copy. Expects only permitted findings. Returns the repaired image.
std::unique_ptr<media::MemoryStore> as_after_a_cut(const Mounted& m) {
  auto image = bench::copy_of(*m.store);
  Fsck fsck;
  const auto seen = fsck.check(*image);
  EXPECT_TRUE(seen) << seen.error().message();
  if (seen && !m.setup.control) {
    for (const Finding& finding : seen->findings)
      EXPECT_TRUE(permitted(m.setup, finding.kind))
          << name_of(finding.kind) << ": " << finding.text;
  }
  EXPECT_TRUE(fsck.run(*image, {.repair = true}));
  return image;
}

void write_block(Mounted& m, const os::BufferKey& key) {
  m.cache.write_behind(key);
  m.queue.drain();
}

class IoErrors : public testing::TestWithParam<Setup> {
 protected:
  IoErrors() : m_(GetParam(), only_who_asks_writes()) { m_.mount(); }
  Volume& volume() { return m_.file_system->volume(); }
  Mounted m_;
};
INSTANTIATE_TEST_SUITE_P(Ufs, IoErrors, testing::ValuesIn(bench::all_setups()), bench::test_name);

TEST_P(IoErrors, FsyncFailsWhileTheFileIsNotOnTheDisk) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "text");
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    m_.machine.faulty_disk.add({.times = DiskFault::kForGood});
    for (int attempt = 0; attempt < 3; ++attempt) EXPECT_EQ(error_of(fs.fsync(*file)), EIO);
    EXPECT_EQ(error_of(fs.sync()), EIO);
    m_.machine.faulty_disk.clear();
    // The disk works again. The next fsync must either write the file, or fail because the file
    // system has stopped.
    if (const auto done = fs.fsync(*file)) {
      EXPECT_EQ(text_of(*as_after_a_cut(m_), "f"), "text");
    } else {
      EXPECT_TRUE(volume().stopped());
    }
    EXPECT_EQ(bench::get_file(fs, "f"), "text") << "cached data can be read";
  });
}

TEST_P(IoErrors, ADataErrorIsReportedUntilARetrySucceeds) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "old.");
    EXPECT_TRUE(fs.sync());
    bench::put_file(fs, "f", "new!");
    const auto file = fs.open("f", {});
    const auto inode = fs.stat("f");
    ASSERT_TRUE(file && inode);
    m_.machine.faulty_disk.add({.sectors = place_of(m_, "f"), .times = 2});
    // Like a write by the syncer: no caller waits for it.
    write_block(m_, Volume::block_of(static_cast<InodeNumber>(inode->inode), 0));
    // A scheme that writes data to a journal has not written to the bad sectors yet.
    const bool failed_behind = m_.machine.faulty_disk.failed() > 0;
    const auto first = fs.fsync(*file);
    if (failed_behind) {
      EXPECT_FALSE(first) << "the second failure is under the fsync";
      EXPECT_FALSE(volume().stopped()) << "unwritable old data does not stop it";
      EXPECT_TRUE(fs.fsync(*file));
    }
    EXPECT_EQ(text_of(*as_after_a_cut(m_), "f"), "new!");
  });
}

/// An inode that has left the cache cannot be read again, but its directory's new names are still
/// in the cache.
TEST_P(IoErrors, AnUnreadableInodeKeepsItsUnwrittenBlocks) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    EXPECT_TRUE(fs.sync());
    bench::put_file(fs, "f", "text");
    EXPECT_TRUE(volume().inodes.write_all_delayed());
    write_block(m_, volume().inodes.block_key(kRootInode));
    volume().inodes.forget_idle(0);
    m_.cache.drop_clean();
    m_.machine.faulty_disk.add(
        {.op = model::Op::read, .sectors = inode_table(m_), .times = DiskFault::kForGood});
    const int error = error_of(fs.stat("f"));
    EXPECT_TRUE(error == EIO || m_.machine.faulty_disk.failed() == 0);
    m_.machine.faulty_disk.clear();
    EXPECT_TRUE(fs.sync());
    m_.cache.drop_clean();
    EXPECT_EQ(bench::get_file(fs, "f"), "text");
    EXPECT_EQ(text_of(*as_after_a_cut(m_), "f"), "text");
  });
}

TEST_P(IoErrors, FsyncReportsMetadataThatFailsInFlight) {
  for (const auto leaves : {DiskFault::Leaves::nothing, DiskFault::Leaves::everything}) {
    Mounted m(GetParam(), only_who_asks_writes());
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      bench::put_file(fs, "before", "b");
      EXPECT_TRUE(fs.sync());
      // The file is empty, so there is only metadata to write.
      const auto file = fs.open("f", {.create = true});
      ASSERT_TRUE(file || GetParam().mount.scheme != SchemeKind::soft_updates);
      if (!file) return;
      m.machine.faulty_disk.add({.sectors = inode_table(m), .leaves = leaves});
      const auto inode = fs.stat("f");
      EXPECT_TRUE(fs.chmod("f", 0640));
      (void)m.file_system->volume().inodes.write_all_delayed();
      m.cache.write_behind(
          m.file_system->volume().inodes.block_key(static_cast<InodeNumber>(inode->inode)));
      const bool on_its_way = m.machine.faulty_disk.failed() > 0;
      const auto done = fs.fsync(*file);
      if (on_its_way && m.setup.block_copy) {
        EXPECT_FALSE(done) << "it waited for a write that failed";
      }
      if (done) {
        EXPECT_EQ(text_of(*as_after_a_cut(m), "f"), "");
      }
      if (!done && !m.file_system->volume().stopped()) {
        EXPECT_TRUE(fs.fsync(*file)) << "still dirty, and written now";
        EXPECT_EQ(text_of(*as_after_a_cut(m), "f"), "");
      }
    });
  }
}

TEST_P(IoErrors, AStoppedFileSystemWritesNothingAndIsNotClean) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "text");
    EXPECT_TRUE(fs.sync());
    EXPECT_TRUE(fs.mkdir("d", 0755));
    m_.machine.faulty_disk.add({.times = DiskFault::kForGood});
    (void)fs.sync();
    (void)fs.mkdir("e", 0755);
    (void)fs.sync();
    m_.queue.drain();
    m_.machine.faulty_disk.clear();
    volume().stop();
    EXPECT_EQ(error_of(fs.mkdir("g", 0755)), EIO);
    EXPECT_EQ(error_of(fs.open("h", {.create = true})), EIO);
    EXPECT_EQ(error_of(fs.sync()), EIO);
    EXPECT_EQ(bench::get_file(fs, "f"), "text");
    const std::uint64_t writes = m_.log.writes;
    for (int visit = 0; visit < 3; ++visit) m_.cache.sweep(0, 1);
    EXPECT_FALSE(fs.unmount());
    for (int visit = 0; visit < 3; ++visit) m_.cache.sweep(0, 1);
    m_.executor.sleep_until(m_.executor.now() + 60 * model::kSecondNs);
    EXPECT_EQ(m_.log.writes, writes) << "nothing is written afterwards";
    Fsck fsck;
    const auto seen = fsck.check(*m_.store);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->was_clean);
    EXPECT_EQ(text_of(*as_after_a_cut(m_), "f"), "text");
    m_.file_system.reset();
  });
}

/// Each round runs a few operations and makes one of their reads fail once. If the unmount
/// succeeds, the file system must be clean; otherwise, it must be in a state that a power cut could
/// leave.
TEST_P(IoErrors, AFailedReadLeavesARepairableFileSystem) {
  int stopped = 0, went_on = 0;
  for (std::uint64_t nth = 1; nth <= 14; ++nth) {
    Mounted m(GetParam(), only_who_asks_writes());
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      EXPECT_TRUE(fs.mkdir("d", 0755) && fs.mkdir("e", 0755));
      bench::put_file(fs, "d/a", std::string(60000, 'a'));
      bench::put_file(fs, "e/b", "text");
      EXPECT_TRUE(fs.sync() && fs.drop_caches());
      m.machine.faulty_disk.add({.op = model::Op::read, .nth = nth});
      (void)fs.rename("d/a", "e/c", RenameMode::replace);
      (void)fs.link("e/b", "d/b");
      (void)fs.unlink("e/c");
      (void)fs.unlink("d/a");
      (void)fs.drop_caches();
      m.machine.faulty_disk.clear();
      const auto synced = fs.sync();
      ++(synced ? went_on : stopped);
      const bool clean = fs.unmount().has_value();
      EXPECT_EQ(clean, synced.has_value());
      if (clean) {
        bench::expect_clean(*m.store);
      } else {
        (void)as_after_a_cut(m);
      }
      m.file_system.reset();
    });
  }
  EXPECT_GT(went_on, 0);
}

/// Each round runs operations that remove the last name of an inode, and makes one of their writes
/// fail once. If an entry stays on the disk, its inode must stay, too.
TEST_P(IoErrors, AFailedWriteOfARemovalKeepsTheInodeOfARemainingEntry) {
  for (std::uint64_t nth = 1; nth <= 14; ++nth) {
    Mounted m(GetParam(), only_who_asks_writes());
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      EXPECT_TRUE(fs.mkdir("d", 0755) && fs.mkdir("d/below", 0755) && fs.mkdir("e", 0755));
      for (const char* name : {"d/a", "d/b", "e/c"})
        bench::put_file(fs, name, std::string(60'000, name[2]));
      EXPECT_TRUE(fs.sync());
      m.machine.faulty_disk.add({.op = model::Op::write, .nth = nth});
      (void)fs.unlink("d/a");
      (void)fs.rename("d/b", "e/c", RenameMode::replace);
      (void)fs.rmdir("d/below");
      (void)fs.sync();
      m.queue.drain();
      SCOPED_TRACE(nth);
      (void)as_after_a_cut(m);
      m.file_system->abandon();
      m.file_system.reset();
    });
  }
}

/// Each round removes a file and makes one of the reads during the removal fail once. Space that
/// cannot be freed is lost, so the file system must not be marked clean. This requirement also
/// applies to space that is freed at the end of the operation or by a later work item.
TEST_P(IoErrors, AFailedReadWhileFreeingSpacePreventsTheCleanMark) {
  for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{60000}}) {
    for (std::uint64_t nth = 1; nth <= 10; ++nth) {
      Mounted m(GetParam(), only_who_asks_writes());
      m.mount();
      m.as_user([&] {
        FileSystem& fs = *m.file_system;
        bench::put_file(fs, "f", std::string(size_bytes, 'f'));
        EXPECT_TRUE(fs.sync() && fs.drop_caches());
        m.machine.faulty_disk.add({.op = model::Op::read, .nth = nth});
        (void)fs.unlink("f");
        for (int attempt = 0; attempt < 3; ++attempt) {
          const bool synced = fs.sync().has_value();
          EXPECT_FALSE(synced && fs.volume().stopped()) << "read " << nth;
          m.cache.drop_clean();
        }
        m.machine.faulty_disk.clear();
        const bool synced = fs.sync().has_value();
        const bool clean = fs.unmount().has_value();
        EXPECT_EQ(clean, synced);
        if (clean) {
          bench::expect_clean(*m.store);
        } else {
          (void)as_after_a_cut(m);
        }
        m.file_system.reset();
      });
    }
  }
}

/// While an fsync waits for its file's metadata, a write of another file's metadata fails. The file
/// system then stops, so the fsync must fail, too.
TEST_P(IoErrors, FsyncFailsIfTheFileSystemStops) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    constexpr int kFiles = 40;  // enough for their inodes to occupy two blocks
    for (int i = 0; i < kFiles; ++i) bench::put_file(fs, "f" + std::to_string(i), "text");
    EXPECT_TRUE(fs.sync());
    const auto block_of = [&](const std::string& path) {
      return volume().inodes.block_key(static_cast<InodeNumber>(fs.stat(path)->inode));
    };
    const os::BufferKey others = block_of("f" + std::to_string(kFiles - 1));
    ASSERT_NE(others, block_of("f0"));
    const std::uint64_t lba = volume().lba(static_cast<FragmentAddress>(others.block));
    const auto file = fs.open("f0", {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.chmod("f" + std::to_string(kFiles - 1), 0600));
    EXPECT_TRUE(volume().inodes.write_all_delayed());
    EXPECT_TRUE(fs.chmod("f0", 0600));
    m_.machine.faulty_disk.add({.sectors = {lba, lba + 1}, .times = DiskFault::kForGood});
    m_.cache.write_behind(others);
    const bool synced = fs.fsync(*file).has_value();
    EXPECT_FALSE(synced && volume().stopped());
  });
}

/// The write that initialises a new block fails, and the pointer to the block depends on that
/// write.
TEST_P(IoErrors, FailedInitializationStopsTheFileSystem) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "");
    EXPECT_TRUE(fs.sync());
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    const Geometry& geometry = volume().geometry;
    m_.machine.faulty_disk.add({.sectors = {geometry.lba_of(geometry.data_start(0))}});
    const auto wrote = fs.pwrite(*file, 0, std::vector<std::byte>(4096, std::byte{'f'}));
    m_.queue.drain();
    if (m_.machine.faulty_disk.failed() > 0) {
      EXPECT_TRUE(!wrote || volume().stopped()) << "no fsync has requested the data yet";
    }
  });
}

/// The inode can be written with its new pointer only after the inode's block has been read. By
/// then, the write of the data has failed.
TEST_P(IoErrors, WritesNoPointerToMovedDataWhoseWriteFailed) {
  if (GetParam().control) GTEST_SKIP() << "enforces no rule";
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "a", std::string(1000, 'a'));
    bench::put_file(fs, "b", std::string(1000, 'b'));  // placed directly after "a"
    EXPECT_TRUE(fs.sync());
    const auto file = fs.open("a", {});
    ASSERT_TRUE(file);
    const Geometry& geometry = volume().geometry;
    m_.cache.drop_clean();
    m_.machine.faulty_disk.add({.sectors = {geometry.lba_of(geometry.data_start(0))}});
    (void)fs.append(*file, std::vector<std::byte>(3000, std::byte{'c'}));
    m_.queue.drain();
    EXPECT_EQ(text_of(*as_after_a_cut(m_), "a"), std::string(100, 'a'));
  });
}

/// The last close of the file cannot read the inode's block, so the changed inode stays in core.
TEST_P(IoErrors, AChangedInodeStaysInMemoryUntilItCanBeWritten) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "text");
    EXPECT_TRUE(fs.sync() && fs.drop_caches());
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    m_.cache.drop_clean();
    m_.machine.faulty_disk.add({.op = model::Op::read, .sectors = inode_table(m_), .times = 2});
    EXPECT_TRUE(fs.chmod("f", 0604));
    EXPECT_TRUE(fs.close(*file));
    EXPECT_TRUE(fs.drop_caches());
    EXPECT_EQ(m_.machine.faulty_disk.failed(), 1U);
    EXPECT_FALSE(fs.sync()) << "its block is unreadable the second time too";
    if (volume().stopped()) return;
    EXPECT_TRUE(fs.sync());
    const auto image = as_after_a_cut(m_);
    const auto reader = ImageReader::open(*image);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->inode(*reader->lookup("f"))->mode & 0777U, 0604U);
  });
}

/// Another user keeps deferring work. A sync does not wait for that work, and an unmount does not
/// mark the file system clean.
TEST_P(IoErrors, AnIncompleteUnmountIsNotClean) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    bench::put_file(fs, "f", "text");
    std::function<void()> again = [&] { m_.syncer.add_work(again); };
    m_.syncer.add_work(again);
    EXPECT_TRUE(fs.sync());
    EXPECT_FALSE(fs.unmount());
    Fsck fsck;
    EXPECT_FALSE(fsck.check(*m_.store)->was_clean);
    again = [] {};
    m_.file_system.reset();
  });
}

TEST_P(IoErrors, MemoryOfUnwritableBlocksIsBounded) {
  m_.as_user([&] {
    FileSystem& fs = *m_.file_system;
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.sync());
    m_.machine.faulty_disk.add({.times = DiskFault::kForGood});
    const std::vector<std::byte> some(65536, std::byte{1});
    VfsResult<void> written;
    for (std::uint64_t i = 0; i < 100 && written; ++i) {
      written = fs.pwrite(*file, i * some.size(), some);
      (void)fs.fsync(*file);
    }
    EXPECT_FALSE(written);
    EXPECT_LE(m_.cache.failed_bytes(), m_.cache.size_bytes());
  });
}

// --- the journal

TEST(IoErrorsOfAJournal, WritesNoCommitWithoutItsData) {
  Mounted m(bench::journal_setup(), only_who_asks_writes());
  m.mount();
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    bench::put_file(fs, "f", "text");
    // The request fails once as part of a concatenated run, and a second time when it is retried
    // alone.
    m.machine.faulty_disk.add({.sectors = place_of(m, "f"), .times = 2});
    EXPECT_FALSE(fs.sync());
    EXPECT_TRUE(fs.volume().stopped());
    EXPECT_EQ(text_of(*as_after_a_cut(m), "f"), "(not there)");
  });
}

TEST(IoErrorsOfAJournal, FsyncReportsFailedDataOutsideTheJournal) {
  Mounted m(bench::journal_setup({.contents = JournalOptions::Contents::data}),
            only_who_asks_writes());
  m.mount();
  m.as_user([&] {
    FileSystem& fs = *m.file_system;
    // The file has more than 128 KiB, an eighth of the ring, so only a part of its data is logged.
    // The rest, including this block, is written in place.
    bench::put_file(fs, "f", std::string(400'000, 'x'));
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    m.machine.faulty_disk.add({.sectors = place_of(m, "f", 80), .times = 2});
    EXPECT_FALSE(fs.fsync(*file));
    EXPECT_GT(m.machine.faulty_disk.failed(), 0U);
    EXPECT_EQ(text_of(*as_after_a_cut(m), "f"), "(not there)");
  });
}

TEST(IoErrorsOfAJournal, AFailedJournalWriteStopsTheFileSystem) {
  for (std::uint64_t nth = 1; nth <= 2; ++nth) {  // 1: descriptor and images; 2: commit record
    Mounted m(bench::journal_setup(), only_who_asks_writes());
    m.mount();
    m.as_user([&] {
      FileSystem& fs = *m.file_system;
      const Volume& volume = fs.volume();
      bench::put_file(fs, "f", "text");
      EXPECT_TRUE(fs.sync());
      bench::put_file(fs, "g", "text");
      const FragmentAddress end = volume.super.journal.at + volume.super.journal.fragments;
      m.machine.faulty_disk.add(
          {.sectors = {volume.lba(volume.super.journal.at), volume.lba(end)}, .nth = nth});
      const auto file = fs.open("g", {});
      EXPECT_FALSE(fs.fsync(*file));
      EXPECT_FALSE(fs.fsync(*file));
      EXPECT_FALSE(fs.unmount());
      const auto image = as_after_a_cut(m);
      EXPECT_EQ(text_of(*image, "f"), "text");
      EXPECT_EQ(text_of(*image, "g"), "(not there)");
      m.file_system.reset();
    });
  }
}

}  // namespace
}  // namespace headcrash::ufs
