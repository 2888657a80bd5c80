#include "plugin/base/scratch_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace headcrash::base {
namespace {

TEST(ScratchFolder, GoesWithItsOwner) {
  std::optional<ScratchFolder> folder(ScratchFolder::make().value());
  const std::filesystem::path path = folder->path();
  EXPECT_TRUE(std::filesystem::is_directory(path));
  folder.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, TheDeadAreSweptAndTheLivingSpared) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const auto left = std::filesystem::temp_directory_path() / ("headcrash-" + std::to_string(dead) + "-left");
  std::filesystem::create_directories(left / "inside");
  const ScratchFolder mine = ScratchFolder::make().value();
  sweep_scratch_folders();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(mine.path()));
}

}  // namespace
}  // namespace headcrash::base
