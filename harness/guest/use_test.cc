#include "harness/guest/use.h"

#include <gtest/gtest.h>
#include <linux/fs.h>

#include <cerrno>

#include "harness/guest/dump.h"
#include "harness/guest/posix_vfs.h"
#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::guest {
namespace {

/// A VFS in which one call fails, as in a file system whose count of entries or inodes is wrong.
class Refusing : public PosixVfs {
 public:
  using PosixVfs::PosixVfs;
  VfsResult<void> rmdir(std::string_view path) override {
    return path == not_empty ? refuse(ENOTEMPTY) : PosixVfs::rmdir(path);
  }
  VfsResult<FileHandle> open(std::string_view path, const OpenOptions& options) override {
    return options.create && create_error != 0 ? refuse(create_error)
                                               : PosixVfs::open(path, options);
  }
  std::string not_empty;
  int create_error = 0;
};

class UseTest : public testing::Test {
 protected:
  UseTest() {
    for (const char* path : {"lost+found", "d", "d/e"}) EXPECT_TRUE(vfs_.mkdir(path, 0755));
    for (const char* path : {"a", "d/b", "d/e/c"}) {
      const auto file = vfs_.open(path, {.create = true});
      EXPECT_TRUE(file);
      vfs_.close(*file);
    }
    EXPECT_TRUE(vfs_.symlink("a", "d/link"));
  }
  std::string use_and_empty() {
    UsabilityTest test;
    EXPECT_TRUE(dump_tree(vfs_, [&](const nlohmann::json& entry) { test.add(entry); }));
    return test.use_and_empty(vfs_);
  }
  TemporaryFolder folder_;
  Refusing vfs_{folder_.path().string()};
};

TEST_F(UseTest, LeavesOnlyLostAndFound) {
  EXPECT_EQ(use_and_empty(), "");
  const auto left = vfs_.list("");
  ASSERT_TRUE(left);
  ASSERT_EQ(left->size(), 1U);
  EXPECT_EQ(left->front().name, "lost+found");
}

TEST_F(UseTest, ToleratesATreeThatCannotBeRemoved) {
  UsabilityTest test;
  test.add({{"path", "a"}, {"type", "file"}, {"flags", FS_IMMUTABLE_FL}});
  EXPECT_EQ(test.use_and_empty(vfs_), "");
  EXPECT_TRUE(vfs_.stat("a"));
}

TEST_F(UseTest, ReportsTheFirstFailingCall) {
  vfs_.not_empty = "d/e";
  EXPECT_EQ(use_and_empty(), "rmdir of d/e: Directory not empty");
}

TEST_F(UseTest, ReportsAnInodeThatAlreadyExists) {
  vfs_.create_error = EEXIST;
  EXPECT_EQ(use_and_empty(), "create of headcrash-use-file: File exists");
}

TEST_F(UseTest, IgnoresLackOfSpace) {
  vfs_.create_error = ENOSPC;
  EXPECT_EQ(use_and_empty(), "");
}

}  // namespace
}  // namespace headcrash::guest
