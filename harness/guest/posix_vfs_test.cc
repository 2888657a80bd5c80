#include "harness/guest/posix_vfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

std::vector<std::byte> bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

// Tests every operation of vfs.h on the host's file system, except drop_caches, which affects the
// whole machine, and cpu, which has no visible effect.
class PosixVfsTest : public testing::Test {
 protected:
  FileHandle make(std::string_view path, std::string_view text) {
    const auto file = vfs_.open(path, {.create = true, .exclusive = true});
    EXPECT_TRUE(file);
    EXPECT_TRUE(vfs_.pwrite(*file, 0, bytes(text)));
    return *file;
  }
  std::string read(FileHandle file) {
    std::vector<std::byte> buffer(10000);
    const auto got = vfs_.pread(file, 0, buffer);
    EXPECT_TRUE(got);
    return {reinterpret_cast<const char*>(buffer.data()), got.value_or(0)};
  }

  TemporaryFolder folder_;
  PosixVfs vfs_{folder_.path().string()};
};

TEST_F(PosixVfsTest, ReadsWritesAppendsAndTruncates) {
  const FileHandle file = make("a", "hello");
  EXPECT_TRUE(vfs_.append(file, bytes(" world")));
  EXPECT_TRUE(vfs_.pwrite(file, 0, bytes("J")));
  EXPECT_EQ(read(file), "Jello world");
  EXPECT_TRUE(vfs_.truncate(file, 5));
  EXPECT_EQ(read(file), "Jello");
  EXPECT_TRUE(vfs_.fsync(file));
  EXPECT_TRUE(vfs_.fdatasync(file));
  std::vector<std::byte> beyond(4);
  EXPECT_EQ(vfs_.pread(file, 100, beyond).value(), 0U);
  EXPECT_EQ(vfs_.pwrite(file, ~0ULL, bytes("x")).error().value, EFBIG);
  EXPECT_TRUE(vfs_.close(file));
  EXPECT_EQ(vfs_.close(file).error().value, EBADF);
}

TEST_F(PosixVfsTest, HonoursOpenFlags) {
  EXPECT_TRUE(vfs_.close(make("a", "text")));
  EXPECT_EQ(vfs_.open("a", {.create = true, .exclusive = true}).error().value, EEXIST);
  EXPECT_EQ(vfs_.open("b", {}).error().value, ENOENT);
  const auto sync = vfs_.open("a", {.truncate = true, .sync = true});
  ASSERT_TRUE(sync);
  EXPECT_NE(::fcntl(static_cast<int>(*sync), F_GETFL) & O_SYNC, 0);
  EXPECT_EQ(vfs_.stat("a")->size_bytes, 0U);
  vfs_.close(*sync);
  const auto direct = vfs_.open("a", {.direct = true});
  if (direct) {  // tmpfs may not support O_DIRECT
    EXPECT_NE(::fcntl(static_cast<int>(*direct), F_GETFL) & O_DIRECT, 0);
    vfs_.close(*direct);
  }
}

TEST_F(PosixVfsTest, AFileOpenedForReadingOnlyCannotBeWritten) {
  EXPECT_TRUE(vfs_.close(make("a", "text")));
  const auto file = vfs_.open("a", {.read_only = true});
  ASSERT_TRUE(file);
  EXPECT_EQ(read(*file), "text");
  EXPECT_EQ(vfs_.pwrite(*file, 0, bytes("x")).error().value, EBADF);
  EXPECT_TRUE(vfs_.close(*file));
}

TEST_F(PosixVfsTest, WritesThroughIoUring) {
  const FileHandle file = make("a", "before");
  const auto written = vfs_.pwrite_by_uring(file, 3, bytes("by a ring"));
  if (!written && (written.error().value == ENOSYS || written.error().value == EPERM))
    GTEST_SKIP() << "io_uring is not available";
  ASSERT_TRUE(written) << written.error().value;
  EXPECT_EQ(read(file), "befby a ring");
  vfs_.close(file);
  EXPECT_EQ(vfs_.pwrite_by_uring(FileHandle{-1}, 0, bytes("x")).error().value, EBADF);
}

TEST_F(PosixVfsTest, KeepsADirectoryOpen) {
  ASSERT_TRUE(vfs_.mkdir("d", 0755));
  EXPECT_EQ(vfs_.open("d", {}).error().value, EISDIR);
  const auto held = vfs_.open_directory("d");
  ASSERT_TRUE(held);
  ASSERT_TRUE(vfs_.rename("d", "e", RenameMode::replace));
  EXPECT_TRUE(vfs_.fsync(*held));
  EXPECT_TRUE(vfs_.close(*held));
  vfs_.close(make("a", ""));
  EXPECT_EQ(vfs_.open_directory("a").error().value, ENOTDIR);
}

TEST_F(PosixVfsTest, SetsAndClearsInodeFlags) {
  constexpr std::uint32_t kOurs = FS_NODUMP_FL | FS_NOATIME_FL;
  const FileHandle file = make("a", "text");
  const auto set = vfs_.set_flags("a", FS_NODUMP_FL, kOurs);
  if (!set) GTEST_SKIP() << "inode flags are not supported: " << set.error().value;
  const std::uint32_t flags = vfs_.flags(file).value();
  EXPECT_EQ(flags & kOurs, static_cast<std::uint32_t>(FS_NODUMP_FL));
  ASSERT_TRUE(vfs_.set_flags("a", 0, kOurs));
  EXPECT_EQ(vfs_.flags(file).value(), flags & ~kOurs) << "others stay";
  vfs_.close(file);
  EXPECT_EQ(vfs_.set_flags("b", 0, kOurs).error().value, ENOENT);
}

TEST_F(PosixVfsTest, WritesAndSyncsThroughAMapping) {
  const FileHandle file = make("a", std::string(9000, 'x'));
  EXPECT_TRUE(vfs_.mmap_write_sync(file, 4090, bytes("across pages")));
  EXPECT_EQ(read(file).substr(4088, 16), "xxacross pagesxx");
  EXPECT_EQ(vfs_.mmap_write_sync(file, 8995, bytes("too long")).error().value, EINVAL);
  vfs_.close(file);
}

TEST_F(PosixVfsTest, AllocatesRangesAndPunchesHoles) {
  const FileHandle file = make("a", std::string(8192, 'x'));
  const auto punched = vfs_.fallocate(file, FallocateMode::punch_hole, 0, 4096);
  if (!punched && punched.error().value == EOPNOTSUPP) GTEST_SKIP() << "fallocate is not supported";
  EXPECT_EQ(read(file)[0], '\0');
  EXPECT_EQ(read(file)[4096], 'x');
  EXPECT_TRUE(vfs_.fallocate(file, FallocateMode::keep_size, 8192, 4096));
  EXPECT_EQ(vfs_.stat("a")->size_bytes, 8192U);
  EXPECT_TRUE(vfs_.fallocate(file, FallocateMode::allocate, 8192, 4096));
  EXPECT_EQ(vfs_.stat("a")->size_bytes, 12288U);
  vfs_.close(file);
}

TEST_F(PosixVfsTest, CountsExtentsOfAFile) {
  const FileHandle file = vfs_.open("f", {.create = true}).value();
  const auto none = vfs_.pieces(file);
  if (!none && none.error().value == ENOTSUP) GTEST_SKIP() << "FIEMAP is not supported";
  EXPECT_EQ(none.value(), 0U);
  const std::vector<std::byte> block(4096, std::byte{1});
  // Write blocks that are separated by holes, which pieces() must not count.
  constexpr std::uint64_t kBlocks = 300;
  for (std::uint64_t i = 0; i < kBlocks; ++i)
    ASSERT_TRUE(vfs_.pwrite(file, i * 2 * block.size(), block));
  const std::uint64_t pieces = vfs_.pieces(file).value();
  EXPECT_GE(pieces, 1U);
  EXPECT_LE(pieces, kBlocks);
  ASSERT_TRUE(vfs_.close(file));
}

TEST_F(PosixVfsTest, WritesThroughAMappingAndSyncsRanges) {
  const FileHandle file = make("a", std::string(6000, '.'));
  EXPECT_TRUE(vfs_.mmap_write(file, 4090, bytes("through a mapping")));
  EXPECT_EQ(read(file).substr(4088, 21), "..through a mapping..");
  EXPECT_TRUE(vfs_.msync(file, 4096, 1000));
  EXPECT_TRUE(vfs_.sync_range(file, 0, 6000));
  EXPECT_EQ(vfs_.mmap_write(file, 5999, bytes("xy")).error().value, EINVAL);
  EXPECT_EQ(vfs_.msync(file, 0, 6001).error().value, EINVAL);
  EXPECT_EQ(read(file).size(), 6000U);
  vfs_.close(file);
}

TEST_F(PosixVfsTest, CollapsesAndInsertsRanges) {
  const std::string unit(4096, 'x');
  const FileHandle file = make("a", unit + std::string(4096, 'y') + std::string(4096, 'z'));
  const auto collapsed = vfs_.fallocate(file, FallocateMode::collapse_range, 4096, 4096);
  if (!collapsed && collapsed.error().value == EOPNOTSUPP)
    GTEST_SKIP() << "range operations are not supported";
  ASSERT_TRUE(collapsed) << collapsed.error().value;
  EXPECT_EQ(read(file), unit + std::string(4096, 'z'));
  ASSERT_TRUE(vfs_.fallocate(file, FallocateMode::insert_range, 0, 4096));
  EXPECT_EQ(read(file).substr(0, 8192), std::string(4096, '\0') + unit);
  EXPECT_EQ(vfs_.fallocate(file, FallocateMode::collapse_range, 1, 4096).error().value, EINVAL);
  vfs_.close(file);
}

TEST_F(PosixVfsTest, ClonesAndDeduplicatesRanges) {
  const std::string unit(4096, 'x');
  const FileHandle from = make("a", unit + std::string(4096, 'y')), to = make("b", unit);
  const auto cloned = vfs_.clone_range(
      {.from = from, .from_offset = 4096, .length = 4096, .to = to, .to_offset = 0});
  if (cloned) {
    EXPECT_EQ(read(to), std::string(4096, 'y'));
    EXPECT_TRUE(vfs_.dedupe_range(
        {.from = from, .from_offset = 4096, .length = 4096, .to = to, .to_offset = 0}));
    EXPECT_TRUE(vfs_.dedupe_range(
        {.from = from, .from_offset = 0, .length = 4096, .to = to, .to_offset = 0}))
        << "different ranges are not shared";
    EXPECT_EQ(read(to), std::string(4096, 'y'));
  } else {
    EXPECT_EQ(cloned.error().value, EOPNOTSUPP);
    EXPECT_FALSE(vfs_.dedupe_range(
        {.from = from, .from_offset = 0, .length = 4096, .to = to, .to_offset = 0}));
  }
  vfs_.close(from);
  vfs_.close(to);
}

TEST_F(PosixVfsTest, ARenameMayLeaveAWhiteout) {
  EXPECT_TRUE(vfs_.close(make("a", "1")));
  const auto renamed = vfs_.rename("a", "b", RenameMode::whiteout);
  if (!renamed)
    GTEST_SKIP() << "error " << renamed.error().value << ": not supported, or not permitted";
  EXPECT_EQ(vfs_.stat("a")->type, FileType::whiteout);
  EXPECT_EQ(vfs_.stat("b")->size_bytes, 1U);
  const auto names = vfs_.list("").value();
  const auto a =
      std::find_if(names.begin(), names.end(), [](const auto& each) { return each.name == "a"; });
  ASSERT_NE(a, names.end());
  EXPECT_EQ(a->type, FileType::whiteout);
}

TEST_F(PosixVfsTest, ManagesNamesAndLinks) {
  ASSERT_TRUE(vfs_.mkdir("d", 0755));
  EXPECT_TRUE(vfs_.close(make("d/a", "1")));
  EXPECT_TRUE(vfs_.close(make("b", "22")));
  EXPECT_TRUE(vfs_.link("b", "d/b"));
  EXPECT_EQ(vfs_.stat("b")->links, 2U);
  EXPECT_EQ(vfs_.stat("b")->inode, vfs_.stat("d/b")->inode);
  EXPECT_TRUE(vfs_.symlink("../b", "d/s"));
  EXPECT_EQ(vfs_.readlink("d/s").value(), "../b");
  EXPECT_EQ(vfs_.stat("d/s")->type, FileType::symlink);
  EXPECT_EQ(vfs_.rename("b", "d/a", RenameMode::no_replace).error().value, EEXIST);
  EXPECT_TRUE(vfs_.rename("b", "d/a", RenameMode::exchange));
  EXPECT_EQ(vfs_.stat("b")->size_bytes, 1U);
  EXPECT_TRUE(vfs_.rename("b", "d/a", RenameMode::replace));
  EXPECT_EQ(vfs_.stat("b").error().value, ENOENT);
  auto names = vfs_.list("d").value();
  std::sort(names.begin(), names.end(),
            [](const auto& x, const auto& y) { return x.name < y.name; });
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].name, "a");
  EXPECT_EQ(names[2].type, FileType::symlink);
  EXPECT_TRUE(vfs_.fsync_directory("d"));
  EXPECT_TRUE(vfs_.fsync_directory(""));
  EXPECT_EQ(vfs_.rmdir("d").error().value, ENOTEMPTY);
  for (const char* name : {"d/a", "d/b", "d/s"}) EXPECT_TRUE(vfs_.unlink(name)) << name;
  EXPECT_TRUE(vfs_.rmdir("d"));
  EXPECT_EQ(vfs_.list("d").error().value, ENOENT);
}

TEST_F(PosixVfsTest, LinksANamelessFile) {
  const auto file = vfs_.make_nameless();
  if (!file && file.error().value == EOPNOTSUPP) GTEST_SKIP() << "O_TMPFILE is not supported";
  ASSERT_TRUE(file) << file.error().value;
  EXPECT_TRUE(vfs_.pwrite(*file, 0, bytes("text")));
  EXPECT_TRUE(vfs_.list("")->empty());
  EXPECT_TRUE(vfs_.link_open(*file, "a"));
  EXPECT_EQ(vfs_.stat("a")->size_bytes, 4U);
  EXPECT_TRUE(vfs_.link_open(*file, "b"));
  EXPECT_EQ(vfs_.stat("b")->links, 2U);
  for (const char* name : {"a", "b"}) EXPECT_TRUE(vfs_.unlink(name));
  EXPECT_EQ(vfs_.link_open(*file, "c").error().value, ENOENT);
  vfs_.close(*file);
}

TEST_F(PosixVfsTest, CreatesFifos) {
  EXPECT_TRUE(vfs_.make_fifo("p", 0644));
  EXPECT_EQ(vfs_.stat("p")->type, FileType::fifo);
  EXPECT_EQ(vfs_.list("")->front().type, FileType::fifo);
  EXPECT_EQ(vfs_.make_fifo("p", 0644).error().value, EEXIST);
}

TEST_F(PosixVfsTest, SetsModesTimesAndExtendedAttributes) {
  EXPECT_TRUE(vfs_.close(make("a", "1")));
  EXPECT_TRUE(vfs_.chmod("a", 0600));
  EXPECT_EQ(vfs_.stat("a")->mode, 0600U);
  for (const std::int64_t ns : {1'000'000'000'000'000'007LL, -1LL}) {
    EXPECT_TRUE(vfs_.set_modified("a", ns));
    EXPECT_EQ(vfs_.stat("a")->modified_ns, ns);
  }
  const auto set = vfs_.setxattr("a", "user.x", bytes("value"));
  if (!set && set.error().value == EOPNOTSUPP)
    GTEST_SKIP() << "extended attributes are not supported";
  EXPECT_EQ(vfs_.getxattr("a", "user.x").value(), bytes("value"));
  EXPECT_EQ(vfs_.listxattr("a").value(), std::vector<std::string>{"user.x"});
  EXPECT_TRUE(vfs_.removexattr("a", "user.x"));
  EXPECT_TRUE(vfs_.listxattr("a")->empty());
  EXPECT_EQ(vfs_.getxattr("a", "user.x").error().value, ENODATA);
}

TEST_F(PosixVfsTest, SyncsAndMeasuresTheWholeFileSystem) {
  EXPECT_TRUE(vfs_.syncfs());
  const auto space = vfs_.space();
  ASSERT_TRUE(space);
  EXPECT_GT(space->total_bytes, 0U);
  EXPECT_LE(space->free_bytes, space->total_bytes);
  vfs_.cpu(1'000'000);
  vfs_.start_program();
  EXPECT_LT(::waitpid(-1, nullptr, WNOHANG), 0) << "the child process was not reaped";
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(PosixVfsTest, NeverLeavesItsRoot) {
  for (const char* path : {"..", "../x", "a/../../x", "a/..", "/.."}) {
    EXPECT_EQ(vfs_.stat(path).error().value, EINVAL) << path;
    EXPECT_EQ(vfs_.open(path, {.create = true}).error().value, EINVAL) << path;
    EXPECT_EQ(vfs_.rename("a", path, RenameMode::replace).error().value, EINVAL) << path;
    EXPECT_EQ(vfs_.link(path, "a").error().value, EINVAL) << path;
  }
  EXPECT_EQ(vfs_.stat(std::string_view("a\0b", 3)).error().value, EINVAL);
  EXPECT_EQ(vfs_.stat("..a").error().value, ENOENT);  // ".." is rejected only as a whole component
}

}  // namespace
}  // namespace headcrash::guest
