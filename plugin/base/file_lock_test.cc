#include "plugin/base/file_lock.h"

#include <gtest/gtest.h>

#include "plugin/base/testing/temporary_folder.h"

namespace headcrash::base {
namespace {

TEST(FileLock, HasOneOwnerAtATime) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.lock";
  {
    const auto first = FileLock::try_take(path);
    ASSERT_TRUE(first);
    EXPECT_FALSE(FileLock::try_take(path));
    EXPECT_TRUE(FileLock::try_take(folder / "b.lock"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(FileLock::try_take(path));
}

TEST(FileLock, SucceedsIfTheLockFileCannotBeCreated) {
  EXPECT_TRUE(FileLock::try_take("/proc/no/such/folder/a.lock"));
}

}  // namespace
}  // namespace headcrash::base
