#include "plugin/base/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace headcrash::base {
namespace {

TEST(ScratchFolder, DestructorRemovesTheFolder) {
  std::optional<ScratchFolder> folder(ScratchFolder::make().value());
  const std::filesystem::path path = folder->path();
  EXPECT_TRUE(std::filesystem::is_directory(path));
  folder.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, SweepRemovesOnlyFoldersOfDeadProcesses) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const auto left =
      std::filesystem::temp_directory_path() / ("headcrash-" + std::to_string(dead) + "-left");
  std::filesystem::create_directories(left / "inside");
  const ScratchFolder mine = ScratchFolder::make().value();
  sweep_scratch_folders();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
}

/// The owner may be in another PID namespace, in which case no process here has its PID. The
/// directory must be kept, because the owner still holds its lock.
TEST(ScratchFolder, SweepKeepsAFolderOfAnotherPidNamespace) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  std::optional<ScratchFolder> made(ScratchFolder::make().value());
  const auto foreign = made->path().parent_path() /
                       ("headcrash-" + std::to_string(dead) + "-" + std::string("foreign"));
  std::filesystem::rename(made->path(), foreign);
  sweep_scratch_folders();
  EXPECT_TRUE(std::filesystem::exists(foreign)) << "its owner holds the lock";
  made.reset();
  sweep_scratch_folders();
  EXPECT_FALSE(std::filesystem::exists(foreign));
}

}  // namespace
}  // namespace headcrash::base
