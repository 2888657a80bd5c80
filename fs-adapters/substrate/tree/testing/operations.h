#pragma once
// Checks those operations of vfs.h that every file system under test must support. Requires an
// empty file system. Must be called from a user fiber.

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>

#include "fs-adapters/substrate/tree/testing/history.h"

namespace headcrash::tree::bench {

/// Checks operations on files; leaves an empty file `f` behind. A file of 3 MB must occupy less
/// than `hole_bytes_most` if only its first bytes have been written.
inline void expect_file_operations(Vfs& fs, std::uint64_t hole_bytes_most) {
  const auto file = fs.open("f", {.create = true, .exclusive = true, .mode = 0640});
  ASSERT_TRUE(file);
  EXPECT_EQ(fs.open("f", {.create = true, .exclusive = true}).error().value, EEXIST);
  EXPECT_TRUE(fs.append(*file, bytes_of("one")));
  EXPECT_TRUE(fs.append(*file, bytes_of("two")));
  EXPECT_TRUE(fs.mmap_write_sync(*file, 1, bytes_of("N")));
  EXPECT_EQ(get_file(fs, "f"), "oNetwo");
  EXPECT_TRUE(fs.truncate(*file, 4));
  EXPECT_TRUE(fs.truncate(*file, 6));
  EXPECT_EQ(get_file(fs, "f"), std::string("oNet\0\0", 6)) << "truncated bytes do not come back";
  EXPECT_TRUE(fs.truncate(*file, 3'000'000));
  EXPECT_LT(fs.stat("f")->allocated_bytes, hole_bytes_most) << "a hole";
  EXPECT_TRUE(fs.pwrite(*file, 2'500'000, bytes_of("far")));
  EXPECT_TRUE(fs.fdatasync(*file));
  EXPECT_TRUE(fs.fallocate(*file, FallocateMode::punch_hole, 0, 2'900'000));
  EXPECT_EQ(fs.stat("f")->size_bytes, 3'000'000U);
  EXPECT_TRUE(fs.fallocate(*file, FallocateMode::allocate, 0, 30'000));
  EXPECT_GE(fs.stat("f")->allocated_bytes, 30'000U);
  EXPECT_TRUE(fs.fallocate(*file, FallocateMode::keep_size, 2'990'000, 10'000));
  EXPECT_TRUE(fs.fallocate(*file, FallocateMode::zero_range, 100, 200));
  EXPECT_TRUE(fs.truncate(*file, 0));
  EXPECT_EQ(fs.stat("f")->allocated_bytes, 0U);
  EXPECT_TRUE(fs.close(*file));
  EXPECT_EQ(fs.pwrite(*file, 0, bytes_of("x")).error().value, EBADF);
}

/// Checks which operations change a file's modification time. Every operation must change the time
/// of the last change (ctime). Requires a file `f`, and does not remove it.
inline void expect_times(Vfs& fs) {
  using Body = std::function<VfsResult<void>(FileHandle)>;
  const auto expect = [&](const char* what, bool modifies, const Body& body,
                          const OpenOptions& options = {}) {
    const auto before = fs.stat("f");
    fs.cpu(2 * model::kSecondNs);
    const auto file = fs.open("f", options);
    ASSERT_TRUE(before && file) << what;
    EXPECT_TRUE(body(*file)) << what;
    EXPECT_TRUE(fs.close(*file)) << what;
    const auto after = fs.stat("f");
    ASSERT_TRUE(after) << what;
    EXPECT_EQ(after->modified_ns > before->modified_ns, modifies) << what;
    EXPECT_GT(after->changed_ns, before->changed_ns) << what;
  };
  const auto allocates = [&](FallocateMode mode) {
    return [&fs, mode](FileHandle file) { return fs.fallocate(file, mode, 0, 9000); };
  };
  expect("write", true, [&](FileHandle file) { return fs.pwrite(file, 0, bytes_of("one")); });
  expect("append", true, [&](FileHandle file) { return fs.append(file, bytes_of("two")); });
  expect("truncate", true, [&](FileHandle file) { return fs.truncate(file, 5000); });
  expect("allocate", true, allocates(FallocateMode::allocate));
  expect("keep size", true, allocates(FallocateMode::keep_size));
  expect("zero", true, allocates(FallocateMode::zero_range));
  expect("punch", true, allocates(FallocateMode::punch_hole));
  expect("open with truncation", true, [](FileHandle) { return VfsResult<void>(); },
         {.truncate = true});
  expect("chmod", false, [&](FileHandle) { return fs.chmod("f", 0600); });
  expect("chown", false, [&](FileHandle) { return fs.set_attributes("f", {.user = 3}); });
  expect("link", false, [&](FileHandle) { return fs.link("f", "g"); });
  expect("unlink", false, [&](FileHandle) { return fs.unlink("g"); });
}

/// Checks operations on names; leaves an empty directory `d` and a file `l` behind.
inline void expect_name_operations(Vfs& fs) {
  EXPECT_TRUE(fs.mkdir("d", 0700));
  EXPECT_EQ(fs.mkdir("d", 0700).error().value, EEXIST);
  put_file(fs, "d/f", "text");
  EXPECT_TRUE(fs.link("d/f", "l"));
  EXPECT_EQ(fs.stat("l")->links, 2U);
  EXPECT_EQ(fs.rmdir("d").error().value, ENOTEMPTY);
  EXPECT_EQ(fs.rename("d", "d/below", RenameMode::replace).error().value, EINVAL);
  EXPECT_EQ(fs.rename("l", "d/f", RenameMode::no_replace).error().value, EEXIST);
  EXPECT_TRUE(fs.mkdir("e", 0755));
  EXPECT_TRUE(fs.rename("e", "d", RenameMode::exchange));
  EXPECT_TRUE(fs.stat("e/f"));
  EXPECT_TRUE(fs.chmod("l", 0600));
  EXPECT_TRUE(fs.set_modified("l", 5'000'000'006));
  EXPECT_TRUE(fs.set_attributes("l", {.user = 12}));
  EXPECT_TRUE(fs.sync());
  EXPECT_TRUE(fs.drop_caches());
  const auto status = fs.stat("e/f");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->mode, 0600U);
  EXPECT_EQ(status->user, 12U);
  EXPECT_EQ(status->modified_ns, 5'000'000'006);
  EXPECT_TRUE(fs.fsync_directory("e"));
  EXPECT_EQ(fs.setxattr("l", "user.x", {}).error().value, ENOTSUP);
  EXPECT_EQ(fs.unlink("e").error().value, EISDIR);
  EXPECT_TRUE(fs.unlink("e/f"));
  EXPECT_TRUE(fs.rmdir("e"));
  EXPECT_TRUE(fs.syncfs());
}

}  // namespace headcrash::tree::bench
