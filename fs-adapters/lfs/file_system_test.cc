// Tests each operation of the mounted file system, and the state after an unmount.
#include "fs-adapters/lfs/testing/mounted.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

TEST(LfsFileSystem, MountsAndUnmountsAnEmptyFileSystem) {
  Disk disk;
  bench::expect_clean(*disk.store, "made ");
  Machine m(*disk.store);
  m.mount();
  m.unmount();
  bench::expect_clean(*disk.store);
}

TEST(LfsFileSystem, FilesSurviveAnUnmount) {
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
      EXPECT_TRUE(fs.symlink("d/small", "way"));
      EXPECT_EQ(bench::get_file(fs, "way"), small);
    });
    m.unmount();
  }
  bench::expect_clean(*disk.store);
  Machine m(*disk.store);
  m.mount();
  m.as_user([&] {
    Vfs& fs = *m.file_system;
    EXPECT_EQ(bench::get_file(fs, "d/small"), small);
    EXPECT_TRUE(bench::get_file(fs, "large") == large);
    EXPECT_EQ(fs.readlink("way").value_or("?"), "d/small");
  });
  m.unmount();
  bench::expect_clean(*disk.store);
}

/// Mounts a file system for one test, and checks at the end that it is sound.
class LfsOperations : public testing::Test {
 protected:
  LfsOperations() : machine_(*disk_.store) { machine_.mount(); }
  void run(const std::function<void(Vfs&)>& body) {
    machine_.as_user([&] { body(*machine_.file_system); });
    machine_.unmount();
    bench::expect_clean(*disk_.store);
  }
  Disk disk_;
  Machine machine_;
};

TEST_F(LfsOperations, SupportsFileOperations) {
  constexpr std::uint64_t kHoleBytesMost = 10'000;
  run([](Vfs& fs) { tree::bench::expect_file_operations(fs, kHoleBytesMost); });
}

TEST_F(LfsOperations, ASynchronousWriteIsLoggedAtOnce) {
  run([&](Vfs& fs) {
    const auto file = fs.open("f", {.create = true, .sync = true});
    ASSERT_TRUE(file);
    const auto regions = machine_.file_system->log().counters().regions;
    EXPECT_TRUE(fs.pwrite(*file, 0, bench::bytes_of("now")));
    EXPECT_GT(machine_.file_system->log().counters().regions, regions);
    EXPECT_TRUE(fs.close(*file));
  });
}

TEST_F(LfsOperations, SupportsNameAndAttributeOperations) {
  run(tree::bench::expect_name_operations);
}

TEST_F(LfsOperations, AnOldInodeNameDoesNotFindANewFileWithThatNumber) {
  run([&](Vfs& fs) {
    bench::put_file(fs, "a", "a");
    const auto before = fs.stat("a");
    ASSERT_TRUE(before);
    const InodeName name{before->inode, before->generation};
    EXPECT_TRUE(fs.stat(name.path()));
    EXPECT_TRUE(fs.unlink("a"));
    bench::put_file(fs, "b", "b");
    EXPECT_EQ(fs.stat("b")->inode, before->inode);
    const auto again = fs.stat(name.path());
    EXPECT_TRUE(!again && again.error().value == ESTALE);
  });
}

TEST_F(LfsOperations, OperationsOnTheInodeNameOfARemovedFileChangeNothing) {
  run([&](Vfs& fs) {
    bench::put_file(fs, "a", "a");
    const auto before = fs.stat("a");
    ASSERT_TRUE(before);
    const InodeName name{before->inode, before->generation};
    EXPECT_TRUE(fs.unlink("a"));
    const auto free_inodes = fs.space()->free_inodes;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(fs.stat(name.path()).error().value, ESTALE);
    EXPECT_EQ(fs.space()->free_inodes, free_inodes);
    bench::put_file(fs, "b", "b");
    EXPECT_EQ(fs.stat("b")->generation, before->generation + 1) << "the number was freed once";
  });
}

TEST_F(LfsOperations, OldDirtyDataIsWrittenInTheBackground) {
  run([&](Vfs& fs) {
    Store& log = machine_.file_system->log();
    const auto regions = log.counters().regions;
    bench::put_file(fs, "f", "old");
    machine_.executor().sleep_until(machine_.executor().now() + 25 * model::kSecondNs);
    EXPECT_EQ(log.counters().regions, regions);
    machine_.executor().sleep_until(machine_.executor().now() + 7 * model::kSecondNs);
    EXPECT_EQ(log.counters().regions, regions + 1);
    const auto checkpoints = log.counters().checkpoints;
    machine_.executor().sleep_until(machine_.executor().now() + 65 * model::kSecondNs);
    EXPECT_GT(log.counters().checkpoints, checkpoints);
  });
}

TEST_F(LfsOperations, FsyncWritesTheFileInOneRequest) {
  run([&](Vfs& fs) {
    const auto before = machine_.machine.system.queue.counters().issued_writes;
    bench::put_file(fs, "f", std::string(50'000, 'x'), bench::Fsync::yes);
    EXPECT_EQ(machine_.machine.system.queue.counters().issued_writes, before + 1);
  });
}

}  // namespace
}  // namespace headcrash::lfs
