#include "plugin/base/installation.h"

#include <gtest/gtest.h>

#include "plugin/base/scratch_folder.h"

namespace headcrash::base {
namespace {

TEST(Installation, InstalledCommandUsesOnlyInstalledFiles) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto bin = folder->path() / "bin";
  const Installation built = installation_of(bin);
  EXPECT_EQ(built.build_guest.filename(), "build-guest");
  EXPECT_FALSE(built.plugin.string().starts_with(folder->path().string()));

  std::filesystem::create_directories(folder->path() / "libexec" / "headcrash");
  const Installation installed = installation_of(bin);
  for (const auto& part : {installed.plugin, installed.agent, installed.build_guest})
    EXPECT_TRUE(part.string().starts_with(folder->path().string())) << part;
}

}  // namespace
}  // namespace headcrash::base
