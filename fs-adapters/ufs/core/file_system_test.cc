#include "fs-adapters/ufs/core/file_system.h"

#include <cerrno>

#include "fs-adapters/ufs/testing/image_writer.h"
#include "fs-adapters/ufs/testing/mounted.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
namespace {

using bench::bytes_of;
using bench::Mounted;
using bench::put_file;
using bench::Setup;

class EveryScheme : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Ufs, EveryScheme, testing::ValuesIn(bench::all_setups()),
                         bench::test_name);

TEST_P(EveryScheme, SupportsFilesDirectoriesAndLinks) {
  Mounted m(GetParam());
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_TRUE(fs.mkdir("d", 0755));
    EXPECT_EQ(fs.mkdir("d", 0755).error().value, EEXIST);
    bench::put_file(fs, "d/a", "hello");
    EXPECT_EQ(bench::get_file(fs, "d/a"), "hello");
    EXPECT_TRUE(fs.link("d/a", "b"));
    EXPECT_EQ(fs.stat("b")->links, 2U);
    EXPECT_TRUE(fs.unlink("d/a"));
    EXPECT_EQ(fs.stat("d/a").error().value, ENOENT);
    EXPECT_EQ(fs.stat("b")->links, 1U);
    EXPECT_EQ(bench::get_file(fs, "b"), "hello");
    EXPECT_TRUE(fs.symlink("b", "s"));
    EXPECT_TRUE(fs.symlink(std::string(200, 'x'), "long"));
    EXPECT_EQ(fs.readlink("long").value(), std::string(200, 'x'));
    // Targets shorter than, equal to and longer than the limit for storage in the inode.
    for (const std::size_t length : {59U, 60U, 61U}) {
      EXPECT_TRUE(fs.symlink(std::string(length, 'y'), "edge"));
      EXPECT_EQ(fs.readlink("edge").value_or("?"), std::string(length, 'y'));
      EXPECT_TRUE(fs.unlink("edge"));
    }
    EXPECT_EQ(bench::get_file(fs, "s"), "hello");
    EXPECT_EQ(fs.list("")->size(), 5U);  // includes lost+found
    EXPECT_EQ(fs.rmdir("b").error().value, ENOTDIR);
    EXPECT_EQ(fs.unlink("d").error().value, EISDIR);
    EXPECT_TRUE(fs.rmdir("d"));
    EXPECT_EQ(fs.setxattr("b", "user.x", {}).error().value, ENOTSUP);
    EXPECT_TRUE(fs.chmod("b", 0600));
    EXPECT_TRUE(fs.set_modified("b", 1'500'000'000));
    EXPECT_EQ(fs.stat("b")->mode, 0600U);
    EXPECT_EQ(fs.stat("b")->modified_ns, 1'500'000'000);
    EXPECT_EQ(fs.open(std::string(256, 'n'), {.create = true}).error().value, ENAMETOOLONG);
    EXPECT_TRUE(fs.sync());
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST_P(EveryScheme, APathCanBeginWithAnInode) {
  Mounted m(GetParam());
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto name_of = [&](const char* path) {
      const auto status = fs.stat(path);
      return status ? InodeName{status->inode, status->generation}.path() : std::string("?");
    };
    EXPECT_TRUE(fs.mkdir("d", 0755));
    const std::string d = name_of("d");
    bench::put_file(fs, d + "/a", "hello");
    const std::string a = name_of("d/a");
    EXPECT_TRUE(fs.rename("d", "e", RenameMode::replace));
    EXPECT_EQ(bench::get_file(fs, d + "/a"), "hello") << "follows renames";
    EXPECT_EQ(bench::get_file(fs, name_of("") + "/e/a"), "hello");
    EXPECT_TRUE(fs.link(a, d + "/b"));
    EXPECT_TRUE(fs.rename(d + "/b", name_of("") + "/c", RenameMode::no_replace));
    EXPECT_EQ(fs.stat(a)->links, 2U);
    EXPECT_TRUE(
        fs.set_attributes(a, {.mode = 0640, .user = 7, .group = 8, .accessed_ns = -1'500'000'000}));
    const auto status = fs.stat("c");
    EXPECT_EQ(status->mode, 0640U);
    EXPECT_EQ(status->user, 7U);
    EXPECT_EQ(status->group, 8U);
    EXPECT_EQ(status->accessed_ns, -1'500'000'000);
    // An open file continues to exist after its name was removed. If a later file gets the same
    // inode number, it is a different file.
    EXPECT_TRUE(fs.unlink("c"));
    const auto open = fs.open(a, {});
    EXPECT_TRUE(fs.unlink(d + "/a"));
    EXPECT_EQ(fs.stat(a)->links, 0U);
    EXPECT_TRUE(fs.close(*open));
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(fs.stat(a).error().value, ESTALE);
    for (int i = 0; i < 50; ++i) bench::put_file(fs, "x" + std::to_string(i), "other");
    EXPECT_EQ(fs.stat(a).error().value, ESTALE);
    EXPECT_EQ(fs.stat("//0.0").error().value, ESTALE);
    EXPECT_EQ(fs.stat("//4294967298.0").error().value, ESTALE) << "2 in its lower half";
    EXPECT_EQ(fs.stat("//99999999.0").error().value, ESTALE);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST_P(EveryScheme, SupportsAllKindsOfRename) {
  Mounted m(GetParam());
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "a", "1");
    bench::put_file(fs, "b", "2");
    ASSERT_TRUE(fs.mkdir("p", 0755));
    ASSERT_TRUE(fs.mkdir("q", 0755));
    ASSERT_TRUE(fs.mkdir("p/x", 0755));
    EXPECT_EQ(fs.rename("a", "b", RenameMode::no_replace).error().value, EEXIST);
    EXPECT_TRUE(fs.rename("a", "b", RenameMode::exchange));
    EXPECT_EQ(bench::get_file(fs, "a"), "2");
    EXPECT_TRUE(fs.rename("a", "b", RenameMode::replace));
    EXPECT_EQ(bench::get_file(fs, "b"), "2");
    EXPECT_EQ(fs.stat("a").error().value, ENOENT);
    EXPECT_EQ(fs.rename("p", "p/x/y", RenameMode::replace).error().value, EINVAL);
    EXPECT_EQ(fs.rename("q", "p", RenameMode::replace).error().value, ENOTEMPTY);
    EXPECT_EQ(fs.rename("b", "q", RenameMode::replace).error().value, EISDIR);
    EXPECT_EQ(fs.rename("q", "b", RenameMode::replace).error().value, ENOTDIR);
    EXPECT_TRUE(fs.rename("p/x", "q/x", RenameMode::replace));
    EXPECT_EQ(fs.stat("p")->links, 2U);
    EXPECT_EQ(fs.stat("q")->links, 3U);
    EXPECT_TRUE(fs.rename("b", "q/x/b", RenameMode::replace));
    EXPECT_TRUE(fs.rename("p", "q/x/b", RenameMode::exchange));
    EXPECT_EQ(bench::get_file(fs, "p"), "2");
    EXPECT_EQ(fs.stat("q/x")->links, 3U);
    EXPECT_TRUE(fs.mkdir("e", 0755));
    EXPECT_TRUE(fs.rename("q/x/b", "e", RenameMode::replace));
    EXPECT_EQ(fs.stat("q/x")->links, 2U);
    EXPECT_EQ(fs.stat("")->links, 5U);  // its own two links, lost+found, q, e
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST_P(EveryScheme, FilesGrowAndShrinkThroughAllLevelsOfIndirection) {
  Mounted m(GetParam(), {.device_bytes = 16 << 20, .cache_bytes = 256 << 10});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto file = fs.open("f", {.create = true});
    ASSERT_TRUE(file);
    std::string mirror;
    for (int i = 0; i < 40; ++i) {  // odd lengths, so that fragments grow, move, and become blocks
      const std::string piece(static_cast<std::size_t>(700 + 377 * i),
                              static_cast<char>('a' + i % 26));
      ASSERT_TRUE(fs.append(*file, bench::bytes_of(piece)));
      if (i % 7 == 0) {
        bench::put_file(fs, "g" + std::to_string(i), "in the way");
      }
      mirror += piece;
    }
    EXPECT_EQ(bench::get_file(fs, "f"), mirror);
    // The write at `far` needs the double indirect block, and the write after it needs the triple
    // indirect block.
    const std::uint64_t far = 4096ULL * (12 + 1024 + 5) + 17;
    ASSERT_TRUE(fs.pwrite(*file, far, bench::bytes_of("far")));
    EXPECT_EQ(fs.stat("f")->size_bytes, far + 3);
    ASSERT_TRUE(
        fs.pwrite(*file, 4096ULL * (12 + 1024 + 1024 * 1024 + 9), bench::bytes_of("farther")));
    for (const std::size_t size : {std::size_t{200'000}, std::size_t{52'000}, std::size_t{5'000}}) {
      ASSERT_TRUE(fs.truncate(*file, size));
      EXPECT_EQ(bench::get_file(fs, "f"), mirror.substr(0, size));
    }
    ASSERT_TRUE(fs.truncate(*file, 9'000));
    EXPECT_EQ(bench::get_file(fs, "f"), mirror.substr(0, 5'000) + std::string(4'000, '\0'));
    ASSERT_TRUE(fs.fallocate(*file, FallocateMode::punch_hole, 100, 6'000));
    ASSERT_TRUE(fs.fsync(*file));
    EXPECT_EQ(bench::get_file(fs, "f"), mirror.substr(0, 100) + std::string(8'900, '\0'));
    ASSERT_TRUE(fs.unlink("f"));
    EXPECT_EQ(fs.stat("f").error().value, ENOENT);
    char c = 0;
    EXPECT_EQ(fs.pread(*file, 0, std::as_writable_bytes(std::span(&c, 1))).value(), 1U);
    EXPECT_EQ(c, 'a');
    ASSERT_TRUE(fs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST_P(EveryScheme, AFullDiskLeavesFilesUnchanged) {
  Mounted m(GetParam(),
            {.device_bytes = 2 << 20,
             .mkfs = {.block_bytes = 4096, .fragment_bytes = 1024, .bytes_per_inode = 16384}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    const auto before = fs.space();
    for (int round = 0; round < 3; ++round) {
      const std::string block(30'000, 'x');
      int files = 0;
      for (;; ++files) {
        const auto file = fs.open("f" + std::to_string(files), {.create = true});
        if (!file) {
          EXPECT_EQ(file.error().value, ENOSPC);
          break;
        }
        const auto written = fs.pwrite(*file, 0, bench::bytes_of(block));
        if (!written) {
          EXPECT_EQ(written.error().value, ENOSPC);
          EXPECT_EQ(fs.stat("f" + std::to_string(files))->size_bytes, 0U);
        }
        EXPECT_TRUE(fs.close(*file));
        if (!written) break;
      }
      EXPECT_GT(files, 20);
      for (int i = 0; i <= files; ++i) (void)fs.unlink("f" + std::to_string(i));
      int empty = 0;
      for (;; ++empty) {
        const auto file = fs.open("e" + std::to_string(empty), {.create = true});
        if (!file) break;
        EXPECT_TRUE(fs.close(*file));
      }
      EXPECT_GT(empty, 50);
      for (int i = 0; i < empty; ++i) EXPECT_TRUE(fs.unlink("e" + std::to_string(i)));
    }
    EXPECT_TRUE(fs.sync());
    EXPECT_EQ(fs.space()->free_inodes, before->free_inodes);
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// While the allocator searches for space for the moved fragments, another fiber evicts the file's
/// buffers.
TEST_P(EveryScheme, AMovedFragmentKeepsItsContent) {
  Mounted m(GetParam());
  m.mount();
  bool done = false;
  os::Account account{.name = "bob"};
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "a", std::string(1000, 'a'));
    bench::put_file(fs, "b", std::string(1000, 'b'));  // placed directly after "a"
    EXPECT_TRUE(fs.sync());
    const auto file = fs.open("a", {});
    m.executor.spawn(os::Executor::Kind::user, account, [&] {
      while (!done) {
        m.executor.sleep_until(m.executor.now() + model::kMillisecondNs / 10);
        m.cache.drop_clean();
      }
    });
    m.executor.sleep_until(m.executor.now() + model::kMillisecondNs);
    EXPECT_TRUE(fs.append(*file, std::vector<std::byte>(3000, std::byte{'c'})));
    EXPECT_EQ(bench::get_file(fs, "a"), std::string(1000, 'a') + std::string(3000, 'c'));
    done = true;
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// A directory d, a file f, and several users. Each user starts once the previous one has finished
/// or is waiting for a lock.
class SeveralUsers : public testing::TestWithParam<Setup> {
 protected:
  SeveralUsers() : m_(GetParam()) {
    m_.mount();
    m_.as_user([&] {
      EXPECT_TRUE(m_.file_system->mkdir("d", 0755));
      bench::put_file(*m_.file_system, "f", "text");
      directory_ = static_cast<InodeNumber>(m_.file_system->stat("d")->inode);
    });
  }
  void begin(std::function<void()> body) {
    accounts_.push_back(std::make_unique<os::Account>());
    m_.executor.spawn(os::Executor::Kind::user, *accounts_.back(), std::move(body));
    m_.executor.run_until(m_.executor.now() + model::kSecondNs);
  }
  /// Starts a user that holds d's lock until `until` is set.
  void begin_holding_d(const bool& until) {
    begin([this, &until] {
      Operation none;
      const auto inode = m_.file_system->volume().inodes.get(directory_, &none);
      ASSERT_TRUE(inode);
      const InodeLock lock(**inode);
      while (!until) m_.executor.sleep_until(m_.executor.now() + model::kMillisecondNs);
    });
  }
  void end() {
    m_.unmount();
    bench::expect_clean(*m_.store);
  }

  Mounted m_;

 private:
  InodeNumber directory_ = 0;
  std::vector<std::unique_ptr<os::Account>> accounts_;
};
INSTANTIATE_TEST_SUITE_P(Ufs, SeveralUsers, testing::ValuesIn(bench::all_setups()),
                         bench::test_name);

TEST_P(SeveralUsers, CannotLinkAConcurrentlyRemovedFile) {
  bool go = false;
  VfsResult<void> linked, removed = refuse(EBUSY);
  begin_holding_d(go);
  begin([&] { linked = m_.file_system->link("f", "d/new"); });
  begin([&] { removed = m_.file_system->unlink("f"); });
  const bool at_once = removed.has_value();
  EXPECT_TRUE(at_once || GetParam().mount.scheme == SchemeKind::journal)
      << "the journal admits no other operation in between";
  go = true;
  m_.executor.run();
  EXPECT_TRUE(removed);
  EXPECT_EQ(linked ? 0 : linked.error().value, at_once ? ENOENT : 0);
  end();
}

TEST_P(SeveralUsers, CannotRenameIntoAConcurrentlyRemovedDirectory) {
  bool go = false, go_on = false;
  VfsResult<void> renamed, removed = refuse(EBUSY);
  begin_holding_d(go);
  begin(
      [&] { renamed = m_.file_system->rename("f", "d/new", RenameMode::replace); });  // resolves d
  begin_holding_d(go_on);
  go = true;
  // The rename is now searching the ancestors of d.
  m_.executor.run_until(m_.executor.now() + model::kSecondNs);
  begin([&] { removed = m_.file_system->rmdir("d"); });  // the removal now holds the root's lock
  go_on = true;
  m_.executor.run();
  // With the journal, no removal can take place between the start and the end of the rename.
  if (GetParam().mount.scheme == SchemeKind::journal) {
    EXPECT_TRUE(renamed);
    EXPECT_EQ(removed ? 0 : removed.error().value, ENOTEMPTY);
  } else {
    EXPECT_TRUE(removed);
    EXPECT_EQ(renamed ? 0 : renamed.error().value, ENOENT);
  }
  end();
}

TEST_P(EveryScheme, AWriteThatDoesNotFitLeavesTheFileUnchanged) {
  Mounted m(GetParam(), {.device_bytes = 2 << 20});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "f", std::string(1000, 'f'));
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    const auto before = fs.stat("f");
    const std::uint64_t too_much = 4 << 20;
    EXPECT_EQ(fs.fallocate(*file, FallocateMode::allocate, 0, too_much).error().value, ENOSPC);
    EXPECT_EQ(fs.pwrite(*file, 0, std::vector<std::byte>(too_much)).error().value, ENOSPC);
    const auto after = fs.stat("f");
    EXPECT_EQ(after->size_bytes, before->size_bytes);
    EXPECT_EQ(after->allocated_bytes, before->allocated_bytes);
    EXPECT_TRUE(fs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

/// The last block of "f" must move to the block of "gone", and then leaves enough space behind.
TEST_P(EveryScheme, AWriteFailsForLackOfSpaceOnlyIfASyncDoesNotHelp) {
  Mounted m(GetParam(),
            {.device_bytes = 2 << 20,
             .mkfs = {.block_bytes = 4096, .fragment_bytes = 1024, .bytes_per_inode = 16384}});
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    bench::put_file(fs, "f", std::string(3 << 10, 'f'));
    bench::put_file(fs, "gone", std::string(4 << 10, 'g'));
    int files = 0;
    for (std::size_t bytes = 128 << 10; bytes >= 1 << 10;) {
      const auto file = fs.open("x" + std::to_string(files++), {.create = true});
      ASSERT_TRUE(file);
      if (!fs.pwrite(*file, 0, bench::bytes_of(std::string(bytes, 'x')))) bytes /= 2;
      EXPECT_TRUE(fs.close(*file));
    }
    EXPECT_TRUE(fs.sync());
    EXPECT_TRUE(fs.unlink("gone"));
    const auto file = fs.open("f", {});
    ASSERT_TRUE(file);
    EXPECT_TRUE(fs.pwrite(*file, 3 << 10, bench::bytes_of(std::string(2 << 10, 'f'))));
    EXPECT_TRUE(fs.close(*file));
  });
  m.unmount();
  bench::expect_clean(*m.store);
}

TEST_P(EveryScheme, APowerCutEndsAllFibers) {
  Mounted m(GetParam());
  m.mount();
  int stopped = 0;
  std::vector<std::unique_ptr<os::Account>> accounts;
  for (int user = 0; user < 4; ++user) {
    accounts.push_back(std::make_unique<os::Account>());
    m.executor.spawn(os::Executor::Kind::user, *accounts.back(), [&, user] {
      Vfs& fs = *m.file_system;
      const std::string folder = "u" + std::to_string(user);
      VfsResult<void> done = fs.mkdir(folder, 0755);
      for (int i = 0; done && i < 100'000; ++i) {
        const std::string path = folder + "/" + std::to_string(i % 50);
        const auto file = fs.open(path, {.create = true});
        done = file ? fs.pwrite(*file, 0, bench::bytes_of(path)) : tl::unexpected(file.error());
        if (done) done = fs.fsync(*file);
        if (file) (void)fs.close(*file);
        if (done && i % 3 == 0) done = fs.unlink(path);
      }
      EXPECT_FALSE(done);
      ++stopped;
    });
  }
  m.executor.run_until(m.executor.now() + 300 * model::kMillisecondNs);
  m.machine.disk.power_cut();
  m.executor.run();
  EXPECT_EQ(stopped, 4);
}

TEST(FileSystem, RejectsAFileSystemThatWasNotUnmounted) {
  Mounted m(bench::setup_named("conventional"));
  m.mount();
  m.as_user([&] {
    const auto again = FileSystem::mount(m.system, {});
    ASSERT_FALSE(again);
    EXPECT_NE(again.error().message().find("fsck"), std::string::npos) << again.error().message();
  });
}

TEST_P(EveryScheme, AnInodeInUseButFreeInTheMapIsDamage) {
  Mounted m(GetParam());
  m.mount();
  m.as_user([&] { put_file(*m.file_system, "a", "a"); });
  m.unmount();
  m.cache.drop_clean();
  const auto reader = ImageReader::open(*m.store);
  ASSERT_TRUE(reader);
  const Geometry& geometry = reader->geometry();
  const auto number = reader->lookup("a");
  ASSERT_TRUE(number);
  const auto inode = static_cast<InodeNumber>(*number);
  const std::uint32_t group = geometry.group_of_inode(inode);
  std::vector<std::byte> header(geometry.block_bytes());
  ASSERT_TRUE(m.store->read(geometry.lba_of(geometry.header(group)), header));
  CylinderGroup(geometry, header, group).free_inode(geometry.inode_index_in_group(inode), false);
  ASSERT_TRUE(m.store->write(geometry.lba_of(geometry.header(group)), header));

  m.mount();
  m.as_user([&] {
    const auto file = m.file_system->open("a", {});
    ASSERT_TRUE(file && m.file_system->pwrite(*file, 100'000, bytes_of("more")));
    const auto taken = m.file_system->open("b", {.create = true});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().value, EIO);
    EXPECT_TRUE(m.file_system->volume().stopped());
    EXPECT_TRUE(m.file_system->stat("a"));
  });
}

/// Simulates a damaged volume in which two pointers refer to the same block.
TEST(FileSystem, SoftUpdatesStopIfABlockLacksTheUpdateToRollBack) {
  constexpr std::uint64_t kBlock = 4096, kIndirect = 12 * kBlock;
  for (const std::string_view changed : {"inode", "indirect block", "entry"}) {
    SCOPED_TRACE(changed);
    Mounted m(bench::setup_named("soft-updates-init"));
    m.mount();
    m.as_user([&] {
      const auto old = m.file_system->open("old", {.create = true});
      ASSERT_TRUE(old && m.file_system->pwrite(*old, kIndirect, bytes_of("o")));
      ASSERT_TRUE(m.file_system->sync() && m.file_system->open("new", {.create = true}));
      ASSERT_TRUE(m.file_system->pwrite(*old, 0, bytes_of("o")));
      ASSERT_TRUE(m.file_system->pwrite(*old, kIndirect + kBlock, bytes_of("o")));
      Volume& volume = m.file_system->volume();
      ASSERT_TRUE(volume.inodes.write_all_delayed());
      const auto number = static_cast<InodeNumber>(m.file_system->stat("old")->inode);
      const InodePlace place = volume.geometry.place_of(number);
      const FragmentAddress indirect = (*volume.inodes.get(number, nullptr))->disk.indirect[0];
      os::BufferKey key = Volume::place(place.block);
      std::size_t offset = place.offset + kInodeDirectOffset;
      if (changed == "indirect block") key = Volume::place(indirect), offset = 4;
      if (changed == "entry") key = Volume::block_of(kRootInode, 0);
      auto buffer = m.cache.cached(key);
      ASSERT_TRUE(buffer);
      if (changed == "entry") offset = tree::find_entry(buffer.bytes(), "new")->offset;
      little_endian::store32(buffer.bytes(), offset, 0);
      m.cache.write_delayed(std::move(buffer));
      const auto synced = m.file_system->sync();
      ASSERT_FALSE(synced);
      EXPECT_EQ(synced.error().value, EIO);
      EXPECT_TRUE(volume.stopped());
      EXPECT_TRUE(m.file_system->stat("old"));
    });
  }
}

}  // namespace
}  // namespace headcrash::ufs
