// Tests that fsync of a file also makes the file's name durable. The tests differ in what happens
// between the creation of the name and the fsync: eviction of the in-core inode, moves of parent
// directories, new directory blocks, indirect blocks in flight, and concurrent fsyncs.

#include <array>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/journal.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::Mounted;
using bench::Setup;

/// More than the maximum number of unreferenced in-core inodes (inodes.cc).
constexpr int kOtherFiles = 650;

/// Returns options without background writes. Each group has one megabyte, so the inodes of
/// different directories are in different blocks.
bench::MountedOptions without_background_writes() {
  return {.mkfs = {.block_bytes = 4096,
                   .fragment_bytes = 1024,
                   .bytes_per_inode = 4096,
                   .group_bytes = 1 << 20},
          .syncer = {.policy = os::SyncerOptions::Policy::none}};
}

/// Returns the file's contents, or the reason why they cannot be read.
std::string text_in(const model::SectorStore& image, const std::string& path,
                    std::uint64_t offset = 0) {
  const auto reader = ImageReader::open(image);
  if (!reader) return reader.error().message();
  const auto inode = reader->lookup(path);
  if (!inode) return inode.error().message();
  std::string text(100, '?');
  const auto got =
      reader->read(*inode, offset, std::as_writable_bytes(std::span(text.data(), text.size())));
  if (!got) return got.error().message();
  text.resize(*got);
  return text;
}

bool replays(const Mounted& m) {
  return m.setup.mount.scheme == SchemeKind::journal;
}

/// Expects that the image contains the file under its name, both before and after a repair.
void expect_kept(const Mounted& m, model::SectorStore& image, const std::string& path,
                 const std::string& text, std::uint64_t offset = 0) {
  if (!replays(m)) {
    EXPECT_EQ(text_in(image, path, offset), text) << path << " after the cut";
  }
  Fsck fsck;
  EXPECT_TRUE(fsck.run(image, {.repair = true}));
  EXPECT_EQ(text_in(image, path, offset), text) << path << " after a repair";
}

void sync_file(Vfs& fs, const std::string& path) {
  const auto file = fs.open(path, {});
  ASSERT_TRUE(file) << path;
  EXPECT_TRUE(fs.fsync(*file)) << path;
  EXPECT_TRUE(fs.close(*file));
}

class FsyncNames : public testing::TestWithParam<Setup> {
 protected:
  FsyncNames() : m_(GetParam(), without_background_writes()) { m_.mount(); }

  /// Saves a copy of the disk, in the state that a power cut at this moment would leave behind.
  void keep_image() { image_ = bench::copy_of(*m_.store); }
  void end() {
    m_.unmount();
    bench::expect_clean(*m_.store);
  }

  Mounted m_;
  std::unique_ptr<media::MemoryStore> image_;
};
INSTANTIATE_TEST_SUITE_P(Ufs, FsyncNames, testing::ValuesIn(bench::all_setups()), bench::test_name);

TEST_P(FsyncNames, PersistsNamesAfterTheInodeWasEvicted) {
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    const auto other = [](int i) { return "others/" + std::to_string(i); };
    ASSERT_TRUE(fs.mkdir("others", 0755));
    for (int i = 0; i < kOtherFiles; ++i) bench::put_file(fs, other(i), "x");
    ASSERT_TRUE(fs.sync());
    ASSERT_TRUE(fs.mkdir("d", 0755));
    ASSERT_TRUE(fs.mkdir("d/e", 0755));
    bench::put_file(fs, "d/e/f", "kept");
    for (int i = 0; i < kOtherFiles; ++i) {
      const auto file = fs.open(other(i), {});
      ASSERT_TRUE(file && fs.close(*file));
    }
    EXPECT_LT(m_.file_system->volume().inodes.in_core(), static_cast<std::size_t>(kOtherFiles));
    sync_file(fs, "d/e/f");
    keep_image();
  });
  expect_kept(m_, *image_, "d/e/f", "kept");
  end();
}

TEST_P(FsyncNames, PersistsNamesBelowNewDirectories) {
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    for (const char* folder : {"a", "a/b", "a/b/c"}) ASSERT_TRUE(fs.mkdir(folder, 0755));
    bench::put_file(fs, "a/b/c/f", "kept");
    sync_file(fs, "a/b/c/f");
    keep_image();
  });
  expect_kept(m_, *image_, "a/b/c/f", "kept");
  end();
}

/// A directory and a file in it are already on the disk. The directory is then moved into a new
/// directory that has not been written.
TEST_P(FsyncNames, PersistsNamesAfterTheDirectoryMovedIntoANewDirectory) {
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    ASSERT_TRUE(fs.mkdir("a", 0755));
    ASSERT_TRUE(fs.mkdir("a/b", 0755));
    bench::put_file(fs, "a/b/f", "kept");
    ASSERT_TRUE(fs.sync());
    ASSERT_TRUE(fs.mkdir("new", 0755));
    ASSERT_TRUE(fs.mkdir("new/er", 0755));
    ASSERT_TRUE(fs.rename("a", "new/er/a", RenameMode::replace));
    sync_file(fs, "new/er/a/b/f");
    keep_image();
  });
  expect_kept(m_, *image_, "new/er/a/b/f", "kept");
  end();
}

TEST_P(FsyncNames, PersistsNamesInADirectoryThatGrows) {
  const auto path = [](int i) { return "d/" + std::string(60, 'n') + std::to_string(i); };
  constexpr int kFiles = 70;
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    ASSERT_TRUE(fs.mkdir("d", 0755));
    for (int i = 0; i < kFiles; ++i) {
      bench::put_file(fs, path(i), "kept");
      sync_file(fs, path(i));
      if (replays(m_)) continue;
      EXPECT_EQ(text_in(*m_.store, path(i)), "kept") << "the " << i << "th";
    }
    keep_image();
  });
  expect_kept(m_, *image_, path(kFiles - 1), "kept");
  end();
}

TEST_P(FsyncNames, PersistsNamesInBlocksBelowADirectorysIndirectBlock) {
  if (GetParam().control)
    GTEST_SKIP() << "control schemes do not write indirect blocks of directories";
  const auto path = [](int i) { return "d/" + std::string(250, 'n') + std::to_string(i); };
  // Each name fills a chunk, so this many names fill twelve blocks.
  constexpr int kInTwelveBlocks = 12 * 4096 / 512;
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    ASSERT_TRUE(fs.mkdir("d", 0755));
    for (int i = 0; i < kInTwelveBlocks + 10; ++i) {
      bench::put_file(fs, path(i), "kept");
      if (i < kInTwelveBlocks - 4) continue;
      sync_file(fs, path(i));
      if (replays(m_)) continue;
      EXPECT_EQ(text_in(*m_.store, path(i)), "kept") << "the " << i << "th";
    }
    keep_image();
  });
  expect_kept(m_, *image_, path(kInTwelveBlocks + 9), "kept");
  end();
}

/// Before the fsync, the syncer issues the write of the indirect block, and the cache evicts the
/// block's buffer. With -CB, a copy of the block is then in flight.
TEST_P(FsyncNames, PersistsDataWhileAnIndirectBlockIsInFlight) {
  constexpr std::uint64_t kBehindTwelveBlocks = std::uint64_t{12} * 4096;
  const std::string text = "kept";
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    Volume& volume = m_.file_system->volume();
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    ASSERT_TRUE(fs.fsync(*file));
    ASSERT_TRUE(fs.pwrite(*file, kBehindTwelveBlocks, std::as_bytes(std::span(text))));
    const auto number = static_cast<InodeNumber>(fs.stat("f")->inode);
    Operation none;
    const auto inode = volume.inodes.get(number, &none);
    ASSERT_TRUE(inode);
    EXPECT_TRUE(m_.cache.flush_object(number) == model::Status::ok);
    if (!replays(m_)) {
      EXPECT_TRUE(volume.inodes.write_delayed(**inode));
      EXPECT_TRUE(volume.write_if_dirty(volume.inodes.block_key(number)));
    }
    m_.cache.write_behind(Volume::place((*inode)->disk.indirect[0]));
    m_.cache.drop_clean();
    EXPECT_TRUE(fs.fsync(*file));
    keep_image();
    EXPECT_TRUE(fs.close(*file));
  });
  expect_kept(m_, *image_, "f", text, kBehindTwelveBlocks);
  end();
}

/// When the second fsync begins, the first one is already writing a name that both of them need.
/// The second one must wait for that write, too.
TEST_P(FsyncNames, PersistsNamesDuringAConcurrentFsyncOfANeighbour) {
  const std::array<std::string, 3> paths{"d/e/f0", "d/e/f1", "d/f2"};
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    ASSERT_TRUE(fs.mkdir("d", 0755));
    ASSERT_TRUE(fs.mkdir("d/e", 0755));
    for (const std::string& path : paths) bench::put_file(fs, path, "kept");
  });
  std::array<std::unique_ptr<media::MemoryStore>, 3> images;
  std::array<os::Account, 3> accounts;
  for (std::size_t i = 0; i < paths.size(); ++i)
    m_.executor.spawn(os::Executor::Kind::user, accounts[i], [&, i] {
      sync_file(*m_.file_system, paths[i]);
      images[i] = bench::copy_of(*m_.store);
    });
  m_.executor.run();
  for (std::size_t i = 0; i < paths.size(); ++i) expect_kept(m_, *images[i], paths[i], "kept");
  end();
}

/// Tests rule R1 when the directory must grow for the new name. As long as nothing points to the
/// new block, a crash would lose the names in it.
TEST_P(FsyncNames, KeepsANameDuringARenameIntoAGrowingDirectory) {
  if (GetParam().control || replays(m_))
    GTEST_SKIP() << "enforces no rule, or enforces it in a replay";
  m_.as_user([&] {
    Vfs& fs = *m_.file_system;
    Volume& volume = m_.file_system->volume();
    for (const char* folder : {"from", "to"}) ASSERT_TRUE(fs.mkdir(folder, 0755));
    const auto from = static_cast<InodeNumber>(fs.stat("from")->inode);
    for (int i = 0; i < 40; ++i) {
      const std::string old_name = "from/" + std::to_string(i);
      const std::string new_name = "to/" + std::string(60, 'n') + std::to_string(i);
      bench::put_file(fs, old_name, "kept");
      ASSERT_TRUE(fs.sync());
      ASSERT_TRUE(fs.rename(old_name, new_name, RenameMode::replace));
      ASSERT_TRUE(volume.write_if_dirty(Volume::block_of(from, 0)));
      EXPECT_TRUE(text_in(*m_.store, old_name) == "kept" || text_in(*m_.store, new_name) == "kept")
          << "the " << i << "th has no name";
    }
  });
  end();
}

TEST(PendingNames, AreRemovedByFsyncAndBySync) {
  Mounted m(bench::setup_named("conventional"), without_background_writes());
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const PendingNames& names = m.file_system->volume().names;
    ASSERT_TRUE(fs.mkdir("d", 0755));
    bench::put_file(fs, "d/f", "f");
    bench::put_file(fs, "d/g", "g");
    const auto f = static_cast<InodeNumber>(fs.stat("d/f")->inode);
    EXPECT_EQ(names.of(f).size(), 1U);
    EXPECT_EQ(names.inodes_to_sync(f).size(), 3U) << "the file, d, the root";
    sync_file(fs, "d/f");
    EXPECT_TRUE(names.of(f).empty());
    EXPECT_EQ(names.inodes(), 1U) << "that of g";
    ASSERT_TRUE(fs.rename("d/f", "f", RenameMode::replace));
    EXPECT_EQ(names.of(f).size(), 1U);
    ASSERT_TRUE(fs.sync());
    EXPECT_EQ(names.inodes(), 0U);
    bench::put_file(fs, "d/h", "h");
    EXPECT_EQ(names.inodes(), 1U);
    ASSERT_TRUE(fs.unlink("d/h"));
    EXPECT_EQ(names.inodes(), 0U);
  });
  m.unmount();
}

/// An fsync does not remove pending names that were added while it was writing.
TEST(PendingNames, NamesAddedDuringAnFsyncStayPending) {
  Mounted m(bench::setup_named("conventional"), without_background_writes());
  m.mount();
  m.as_user([&] {
    PendingNames& names = m.file_system->volume().names;
    constexpr InodeNumber kFile = 1 << 20, kOther = kFile + 1, kOld = kFile + 2, kNew = kFile + 3;
    names.note(kFile, kOld, 0);
    names.note(kFile, kOld, 1);
    names.note(kOther, kOld, 0);
    const std::uint64_t noted = names.noted();
    names.note(kFile, kNew, 0);
    names.note(kFile, kOld, 1);  // the name is noted again at the same place
    names.arrived(kFile, noted);
    std::vector<InodeNumber> left;
    for (const PendingName& name : names.of(kFile)) left.push_back(name.directory);
    EXPECT_EQ(left, (std::vector<InodeNumber>{kOld, kNew}));
    EXPECT_EQ(names.of(kOther).size(), 1U) << "name of another inode";
    names.arrived(kFile, names.noted());
    EXPECT_TRUE(names.of(kFile).empty());
    names.forget(kOther);
  });
  m.unmount();
}

TEST(PendingNames, WrittenNamesAreDroppedOnceThereAreMany) {
  Mounted m(bench::setup_named("conventional"), without_background_writes());
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    Volume& volume = m.file_system->volume();
    ASSERT_TRUE(fs.mkdir("old", 0755));
    ASSERT_TRUE(fs.sync());
    const auto number = [&](const char* path) {
      return static_cast<InodeNumber>(fs.stat(path)->inode);
    };
    const InodeNumber old = number("old");
    ASSERT_TRUE(fs.mkdir("d", 0755));
    bench::put_file(fs, "d/f", "kept");
    const InodeNumber d = number("d"), f = number("d/f");
    // All of d's contents are on the disk, but the name of d is not.
    EXPECT_EQ(m.cache.flush_object(d), model::Status::ok);
    ASSERT_TRUE(volume.write_if_dirty(volume.inodes.block_key(d)));
    EXPECT_FALSE(m.cache.unwritten(Volume::block_of(d, 0)));
    EXPECT_TRUE(m.cache.unwritten(Volume::block_of(kRootInode, 0)));
    constexpr InodeNumber kNobodys = 1 << 20;
    for (InodeNumber i = 0; i < 5000; ++i) volume.names.note(kNobodys + i, old, 0);
    EXPECT_LT(volume.names.inodes(), 1000U);
    EXPECT_EQ(volume.names.of(d).size(), 1U);
    EXPECT_EQ(volume.names.of(f).size(), 1U);
    sync_file(fs, "d/f");
    const auto image = bench::copy_of(*m.store);
    EXPECT_EQ(text_in(*image, "d/f"), "kept");
  });
  m.unmount();
}

}  // namespace
}  // namespace headcrash::ufs
