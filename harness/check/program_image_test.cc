#include "harness/check/program_image.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "harness/check/host_program.h"
#include "plugin/base/scratch_folder.h"
#include "plugin/base/text_file.h"

namespace headcrash::check {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& image, const fs::path& scratch) {
  const fs::path list = scratch / "list";
  EXPECT_EQ(
      std::system(("unsquashfs -llnumeric " + image.string() + " > " + list.string()).c_str()), 0);
  return base::read_text_file(list.string()).value_or("");
}

class ProgramImage : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(scratch_);
    fs::create_directories(top_ / "real");
    std::ofstream(top_ / "real/file") << "contents";
    fs::create_symlink("real", top_ / "link");
    fs::create_symlink(top_ / "link/file", top_ / "absolute");
  }
  Result<base::ScratchFolder> scratch_ = base::ScratchFolder::make();
  fs::path top_ = scratch_ ? fs::canonical(scratch_->path()) : "";
};

TEST_F(ProgramImage, ContainsEveryPathComponentOfALookup) {
  const auto all = with_lookups({top_ / "absolute", top_ / "absent/x"});
  for (const char* name : {"absolute", "link", "real", "real/file"})
    EXPECT_TRUE(all.contains(top_ / name)) << name;
  EXPECT_TRUE(all.contains(top_));
  EXPECT_FALSE(all.contains(top_ / "absent"));
}

TEST_F(ProgramImage, ContainsTheGivenPathsAndFolder) {
  const fs::path image = top_ / "image";
  const auto packed = pack_paths({top_ / "absolute"}, image);
  ASSERT_TRUE(packed) << packed.error().message();
  const std::string list = contents_of(image, top_);
  EXPECT_NE(list.find(top_.string() + "/real/file"), std::string::npos) << list;
  EXPECT_NE(list.find("link -> real"), std::string::npos) << list;

  const fs::path folder = top_ / "real", archive = top_ / "real.tar.gz";
  ASSERT_TRUE(pack_rootfs(folder, image));
  EXPECT_NE(contents_of(image, top_).find("squashfs-root/file"), std::string::npos);
  ASSERT_EQ(std::system(("tar -czf " + archive.string() + " -C " + folder.string() + " .").c_str()),
            0);
  const auto unpacked = pack_rootfs(archive, image);
  ASSERT_TRUE(unpacked) << unpacked.error().message();
  EXPECT_NE(contents_of(image, top_).find("squashfs-root/file"), std::string::npos);
}

TEST_F(ProgramImage, RejectsFilesThatAreNeitherFolderNorArchive) {
  std::ofstream(top_ / "text") << "no archive";
  EXPECT_FALSE(pack_rootfs(top_ / "text", top_ / "image"));
  EXPECT_NE(pack_rootfs(top_ / "absent", top_ / "image").error().message().find("neither a folder"),
            std::string::npos);
}

}  // namespace
}  // namespace headcrash::check
